#include "fixture.h"
int main(void){(void)ir_of;(void)tables_of;(void)types_of;(void)error_of;(void)world_init;(void)world_deinit;return check_report();}
