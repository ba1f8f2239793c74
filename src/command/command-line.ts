/** A `/bailiwick` command on the first line of a comment. */
export interface CommandLine {
  /** As it was typed; '' where there is none. */
  readonly verb: string
  /** What follows it, as one text and as the words of it. */
  readonly rest: string
  readonly words: readonly string[]
}

/** Longer lines are nobody's command; GitHub allows 65,536 characters in a comment. */
const LONGEST_LINE = 2000

/**
 * Reads the command of a comment; undefined if there is none. Quoted replies, indented lines, other spellings and later
 * lines are ignored, so quoting a command does not run it.
 */
export function readCommandLine(comment: string): CommandLine | undefined {
  const end = comment.search(/\r?\n/)
  const line = (end < 0 ? comment : comment.slice(0, end)).slice(0, LONGEST_LINE + 1)
  const found = /^\/bailiwick(?:[ \t]+(\S+)(?:[ \t]+(.*))?)?[ \t]*$/.exec(line.trimEnd())
  if (!found) return undefined
  const rest = (found[2] ?? '').trim()
  return { verb: found[1] ?? '', rest, words: rest === '' ? [] : rest.split(/[ \t]+/) }
}
