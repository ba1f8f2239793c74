import { Lexer } from 'yaml'

const SCALAR = '\u001f'
/** What the lexer says that is not in the text. */
const MARKS = ['\u0002', '\u0018', SCALAR]

interface Comment {
  readonly text: string
  readonly line: number
  readonly column: number
}

/** The comments of a YAML text, to be written back where go-yaml puts them. */
export class EmbeddedComments {
  /** What in the text keeps us from knowing where its comments go. */
  readonly unknown: string | undefined
  private readonly before = new Map<number, Comment[]>()
  private readonly behind = new Map<number, Comment>()
  private left = 0

  constructor(text: string) {
    const lines = text.split('\n')
    const special = this.read(text, lines)
    const hasGaps = this.left > 0 && /\n[ \t]*\n/.test(text.trimEnd())
    this.unknown = special ?? (hasGaps ? 'comments and blank lines' : undefined)
  }

  /** Whether all of them have been asked for. */
  get allTaken(): boolean {
    return this.left === 0
  }

  /** Those on lines of their own right before a line, where they stand as far in as what it holds. */
  takeBefore(line: number, column: number): string[] {
    const comments = this.before.get(line)
    if (!comments?.every(comment => comment.column === column)) return []
    this.before.delete(line)
    this.left -= comments.length
    return comments.map(comment => comment.text)
  }

  /** The one behind what stands on a line, with the space before it; else nothing. */
  takeBehind(line: number): string {
    const comment = this.behind.get(line)
    if (!comment) return ''
    this.behind.delete(line)
    this.left--
    return ` ${comment.text}`
  }

  private read(text: string, lines: readonly string[]): string | undefined {
    let previous = ''
    let offset = 0
    let line = 1
    let start = 0
    for (const lexeme of new Lexer().lex(text)) {
      // the text of a plain or block scalar comes after its mark
      if (previous !== SCALAR && /^[&*]/.test(lexeme)) return 'an anchor'
      if (previous !== SCALAR && lexeme.startsWith('#')) {
        this.add({ text: lexeme.trimEnd(), line, column: offset - start + 1 }, lines)
      }
      previous = lexeme
      if (MARKS.includes(lexeme)) continue
      for (let at = lexeme.indexOf('\n'); at >= 0; at = lexeme.indexOf('\n', at + 1)) {
        line++
        start = offset + at + 1
      }
      offset += lexeme.length
    }
    return undefined
  }

  private add(comment: Comment, lines: readonly string[]): void {
    this.left++
    if (!lines[comment.line - 1]!.trimStart().startsWith('#')) {
      this.behind.set(comment.line, comment)
      return
    }
    let next = comment.line + 1
    while (lines[next - 1]?.trimStart().startsWith('#')) next++
    const others = this.before.get(next) ?? []
    this.before.set(next, [...others, comment])
  }
}
