/** One document of a YAML file, with the marker above it. */
interface YamlDocument {
  /** Its first and last line, from 1. */
  readonly first: number
  readonly last: number
  readonly text: string
}

/** `---` and `...` end a document wherever they begin a line: https://yaml.org/spec/1.2.2/#912-document-markers */
const MARKER = /^(?:---|\.\.\.)(?=\s|$)/

/** The documents of a file in order; together they are the file, byte by byte. */
export function documentsOf(text: string): YamlDocument[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const starts = lines.flatMap((line, index) => (MARKER.test(line) || index === 0 ? [index] : []))
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? lines.length
    return { first: start + 1, last: end, text: lines.slice(start, end).join('') }
  })
}

/** The file without some of its documents; undefined where nothing but comments is left. */
export function withoutDocuments(text: string, isRemoved: (document: YamlDocument) => boolean): string | undefined {
  const documents = documentsOf(text)
  const left = documents.filter(document => !isRemoved(document)).map(({ text: kept }) => kept)
  if (left.every(kept => !hasContent(kept))) return undefined
  // a file that began without a marker goes on doing so
  const first = documents[0]?.text.startsWith('---') ? left[0]! : left[0]!.replace(/^---[ \t]*(?:\r?\n)/, '')
  return [first, ...left.slice(1)].join('')
}

const hasContent = (text: string) =>
  text.split('\n').some(line => line.replace(MARKER, '').trim() !== '' && !/^\s*#/.test(line) && !/^%/.test(line))
