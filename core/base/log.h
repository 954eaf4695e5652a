/* log.h - warnings and dumps on standard error, one line at a time.  */
#ifndef RG_BASE_LOG_H
#define RG_BASE_LOG_H
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a dump of one compile step: a title line, then the text. */
void log_dump(const char *step, const char *kernel, const char *text);
#endif
