/** As long as a file may be, the object before it included. */
const LENGTH = 8 * 1024 * 1024 - 200

const fill = (unit: string, end = ''): string =>
  unit.repeat(Math.floor((LENGTH - end.length) / Buffer.byteLength(unit))) + end

function count(line: (index: number) => string): string {
  const lines: string[] = []
  for (let index = 0, length = 0; ; index++) {
    const next = line(index)
    length += Buffer.byteLength(next)
    if (length > LENGTH) return lines.join('')
    lines.push(next)
  }
}

/** A document whose aliases stand for 10 to the power of `levels` values. */
const bomb = (levels: number): string =>
  `---\nb0: &b0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: levels - 1 }, (_, level) => {
    return `b${level + 1}: &b${level + 1} [${Array(10).fill(`*b${level}`).join(', ')}]\n`
  }).join('')}`

const nestedMerge = (levels: number, keys: number): string =>
  Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}<<:\n`).join('') +
  Array.from({ length: keys }, (_, key) => `${' '.repeat(levels)}k${key}: v\n`).join('')

/** Files of 8 MiB (or what a short one makes of itself) behind an object, by what they try, with the code that comes of it. */
export const HOSTILE_YAML: Readonly<Record<string, readonly [text: () => string, code: string]>> = {
  'brackets and braces in turn': [() => `x: ${fill('[{a: ')}`, 'render-limits'],
  'lists of 90 brackets': [() => count(() => `---\nx: ${'['.repeat(90)}${']'.repeat(90)}\n`), 'render-limits'],
  'lines of four dashes': [() => `x:\n${fill('- - - -\n')}`, 'render-limits'],
  'dashes without a space': [() => fill('-', '\n'), 'yaml-ambiguous'],
  'question marks': [() => fill('? '), 'render-limits'],
  'question marks before keys': [() => count(i => `? k${i}\n: v\n`), 'render-limits'],
  colons: [() => fill(':\n'), 'render-limits'],
  commas: [() => `x: [${fill(',')}`, 'render-limits'],
  'brackets that only close': [() => fill(']'), 'render-limits'],
  'a bracket opened on each line': [() => fill('a: [\n'), 'render-limits'],
  'a quote opened on each line': [() => fill('k: "a\n'), 'render-limits'],
  'a quote is not closed': [() => `x: "${fill('y \n')}`, 'yaml-syntax'],
  'a plain text of a few million lines': [() => `x:\n${fill(' y\n')}`, 'built'],
  'a plain text of a few million lines, in brackets': [() => `x: [${fill('b\n', ']\n')}`, 'built'],
  'a plain text with blank lines': [() => `x: a\n${fill('\n', ' b\n')}`, 'built'],
  'a plain text of spaces': [() => `x: ${fill(`a${' '.repeat(4000)}`, 'b\n')}`, 'built'],
  'a quoted text of a few million lines': [() => `x: '${fill('a\n', " '\n")}`, 'built'],
  'a quoted text of quotes': [() => `x: '${fill("''", "'\n")}`, 'built'],
  'a quoted text of escapes': [() => `x: "${fill('\\x41', '"\n')}`, 'built'],
  'a quoted text of escaped line breaks': [() => `x: "${fill('a\\\n', '"\n')}`, 'built'],
  'a folded text of a few million lines': [() => `x: >\n${fill('  a\n   b\n')}`, 'built'],
  'a text block of blank lines': [() => `x: |\n${fill('\n', '  b\n')}`, 'built'],
  'a text block of longer and longer blank lines': [() => `x: |\n${count(i => `${' '.repeat(i)}\n`)}b: c\n`, 'built'],
  'a text block of spaces': [() => `x: |\n${fill(' ')}`, 'built'],
  'text blocks without text': [() => count(i => `k${i}: |\n`), 'render-limits'],
  'keys of 1,000 characters': [() => count(i => `"${'k'.repeat(1000)}${i}": v\n`), 'built'],
  'keys of 1,000 characters of two units': [() => count(i => `"${'😀'.repeat(1000)}${i}": v\n`), 'built'],
  'a key without end': [() => fill('k', ': v\n'), 'yaml-syntax'],
  'the same key': [() => fill('__proto__: a\n'), 'render-limits'],
  comments: [() => fill('#\n'), 'built'],
  'comments that begin with a brace': [() => fill('# {\n'), 'yaml-ambiguous'],
  'comments of JSON': [() => fill(`#{"a":${'['.repeat(4900)}${']'.repeat(4900)}}\n`), 'built'],
  'a comment of nested JSON': [() => `# {"a":${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}}\n`, 'yaml-ambiguous'],
  'a comment on each entry': [() => `x:\n${fill('- # c\n')}`, 'render-limits'],
  tabs: [() => `x:${fill('\t', 'a\n')}`, 'built'],
  'lines of a tab': [() => `x: a\n${fill('\t\n')}`, 'yaml-syntax'],
  'lines of spaces': [() => fill('   \n'), 'built'],
  'line breaks of two characters': [() => fill('\r\n'), 'built'],
  separators: [() => fill('---\n'), 'render-limits'],
  'separators with spaces': [() => fill(`---${' '.repeat(1000)}\n`), 'render-limits'],
  'ends of empty documents': [() => fill('---\n...\n'), 'render-limits'],
  'a document that ends in spaces': [() => `...\n${fill(' ', 'x\n')}`, 'yaml-ambiguous'],
  'documents of one key': [() => fill('---\na: 1\n'), 'render-limits'],
  'documents 98 levels deep': [
    () => count(() => `---\n${Array.from({ length: 98 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')}`),
    'invalid-object',
  ],
  anchors: [() => count(i => `k${i}: &a${i} v\n`), 'render-limits'],
  aliases: [() => `k: &a v\n${count(i => `k${i}: *a\n`)}`, 'render-limits'],
  'an anchor with a name of 8 MiB': [() => `x: &${fill('a', ' b\n')}`, 'built'],
  'a tag of 8 MiB': [() => `x: !${fill('a', ' b\n')}`, 'yaml-ambiguous'],
  'alias bombs, each small enough': [() => bomb(4).repeat(4000), 'render-limits'],
  'merge keys inside of merge keys': [() => nestedMerge(95, 60_000), 'render-limits'],
  'merge keys of long lists': [() => `m:\n  <<: [${Array(60_000).fill('{a: b}').join(',')}]\n`, 'render-limits'],
  'a decimal number of 8 MiB': [() => `x: ${fill('9', '\n')}`, 'built'],
  'a number with 8 MiB of fraction': [() => `x: 1.${fill('9', '\n')}`, 'built'],
  'numbers of 1,000 digits': [() => count(i => `k${i}: ${'9'.repeat(1000)}\n`), 'built'],
  'a time of 8 MiB': [() => `x: 2024-01-01T00:00:00.${fill('0', 'Z\n')}`, 'yaml-ambiguous'],
  'characters of several bytes': [() => `x:\n${fill(' é😀\n')}`, 'built'],
  'a control character at the end': [() => `x:\n${fill(' y\n', '\x01')}`, 'yaml-encoding'],
}
