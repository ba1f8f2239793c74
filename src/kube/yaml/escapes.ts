/** What a letter behind a backslash stands for in double quotes, where no YAML reader disagrees (YAML 1.1 and 1.2, 5.7). */
export const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '0': '\0',
    a: '\x07',
    b: '\b',
    t: '\t',
    '\t': '\t',
    n: '\n',
    v: '\v',
    f: '\f',
    r: '\r',
    e: '\x1b',
    ' ': ' ',
    '"': '"',
    "'": "'",
    '\\': '\\',
    _: '\u00a0',
  }),
)
