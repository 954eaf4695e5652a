/* text.c - splits PTX into tokens, without comments and white space. */
#include "text.h"

#include <ctype.h>
#include <stdlib.h>

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

static void skip_blank(Text *text) {
  while (text->at < text->end) {
    char c = *text->at, next = text->at + 1 < text->end ? text->at[1] : 0;
    if (c == '\n') text->line++;
    if (isspace((unsigned char)c)) {
      text->at++;
    } else if (c == '/' && next == '/') {
      while (text->at < text->end && *text->at != '\n') text->at++;
    } else if (c == '/' && next == '*') {
      text->at += 2;
      while (text->at + 1 < text->end && !(text->at[0] == '*' && text->at[1] == '/')) {
        if (*text->at == '\n') text->line++;
        text->at++;
      }
      text->at = text->at + 2 < text->end ? text->at + 2 : text->end;
    } else {
      return;
    }
  }
}

/* 0f and 0d are the bits of a float in hexadecimal; 0x, 0b, 0 as in C; 1.5 is a double. */
static void read_number(Text *text, Token *token) {
  char copy[80];
  const char *from = text->at;
  while (text->at < text->end && is_word(*text->at)) text->at++;
  size_t length = (size_t)(text->at - from);
  if (length >= sizeof copy) length = sizeof copy - 1;
  memcpy(copy, from, length);
  copy[length] = 0;
  if (copy[0] == '0' && (copy[1] == 'f' || copy[1] == 'F')) {
    token->float_width = 4;
    token->bits = strtoull(copy + 2, NULL, 16);
  } else if (copy[0] == '0' && (copy[1] == 'd' || copy[1] == 'D')) {
    token->float_width = 8;
    token->bits = strtoull(copy + 2, NULL, 16);
  } else if (copy[0] == '0' && (copy[1] == 'b' || copy[1] == 'B')) {
    token->bits = strtoull(copy + 2, NULL, 2);
  } else if (strchr(copy, '.')) {
    double value = strtod(copy, NULL);
    token->float_width = 8;
    memcpy(&token->bits, &value, 8);
  } else {
    token->bits = strtoull(copy, NULL, 0);
  }
}

void text_next(Text *text) {
  skip_blank(text);
  Token *token = &text->token;
  *token = (Token){.line = text->line, .text = {text->at, 0}};
  if (text->at >= text->end) return;
  char c = *text->at;
  if (isdigit((unsigned char)c)) {
    token->kind = TOKEN_NUMBER;
    read_number(text, token);
  } else if (is_word(c) || c == '%') {
    token->kind = TOKEN_WORD;
    text->at++;
    while (text->at < text->end &&
           (is_word(*text->at) || (*text->at == ':' && text->at + 2 < text->end &&
                                   text->at[1] == ':' && is_word(text->at[2]))))
      text->at += *text->at == ':' ? 2 : 1;
  } else if (c == '"') {
    token->kind = TOKEN_STRING;
    text->at++;
    while (text->at < text->end && *text->at != '"') text->at++;
    if (text->at < text->end) text->at++;
  } else {
    token->kind = TOKEN_MARK;
    token->mark = c;
    text->at++;
  }
  token->text.length = (uint32_t)(text->at - token->text.at);
}

void text_open(Text *text, const char *from, size_t length) {
  *text = (Text){.at = from, .end = from + length, .line = 1};
  text_next(text);
}
