/* driver_test.c - a machine without a usable GPU gives an error of one sentence; one with a GPU
 * gives its name. */
#include "../../cuda/driver.h"

#include "check.h"

int main(void) {
  TEST("a request for a GPU gives a device or one sentence that says why not") {
    Driver driver;
    DriverDevice device;
    Error err = {0};
    if (driver_open(&driver, &err) && driver_device(&driver, 0, &device, &err)) {
      CHECK(device.capability >= 50);
      CHECK(device.name[0]);
      printf("device: %s, sm_%d\n", device.name, device.capability);
    } else {
      CHECK_TEXT(error_code_text(err.code), "device.missing");
      CHECK(err.message[0]);
      printf("skipped: no device (%s)\n", err.message);
    }
    driver_close(&driver);
  }
  return check_report();
}
