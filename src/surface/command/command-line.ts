import { BailiwickError } from '../../base/errors.ts'
import { code, markdownOf, ownCode, prose } from '../../base/markup.ts'
import { fixOf, type Message, typedMessage } from '../../base/message.ts'
import { visible } from '../../base/visible.ts'

/** A `/bailiwick` command on the first line of a comment. */
export interface CommandLine {
  /** As typed; '' if there is none. */
  readonly verb: string
  /** The rest of the line, as text and as words. */
  readonly rest: string
  readonly words: readonly string[]
}

/** Longer lines are not commands; GitHub allows 65,536 characters in a comment. */
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

/** The error for an invalid command; it is not retried, and becomes the reply. */
export function commandError(message: string | Message, fix: string | Message): BailiwickError {
  return new BailiwickError('command-input', message, { fix })
}

/** Quotes, escapes and shortens an untrusted word for a message. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}

const LONGEST = 300

/** Parses a reason: one line without hidden characters. Throws `command-input` if it is missing or too long. */
export function parseReason(words: readonly string[], usage: string): string {
  const reason = visible(words.join(' '), 2 * LONGEST).trim()
  if (!/\p{L}/u.test(reason)) throw commandError('a reason is needed', `Write \`${usage}\``)
  if (reason.length > LONGEST) throw commandError(`the reason has more than ${LONGEST} characters`, 'Shorten it.')
  return reason
}

/** The Markdown reply to a refused command: the reason, and what to write instead. */
export function refusalText(why: BailiwickError, lead = 'This cannot be done'): string {
  const { code: reason, fix } = why
  const place = why.origin && why.origin.file !== '' ? ` (${code(`${why.origin.file}:${why.origin.line}`)})` : ''
  return `${lead} (${reason}): ${markdownOf(typedMessage(why))}${place}${fix ? `\n\n${markdownOf(fixOf(why))}` : ''}`
}

/** A command in the help text. */
interface Offered {
  readonly usage: string
  readonly summary: string
}

/** Lists the commands that a person may run here, as Markdown. `about`: the unknown command that they wrote. */
export function helpText(login: string, offered: readonly Offered[], about?: string): string {
  const lead = about === undefined ? '' : `Unknown command ${code(about, 60)}. `
  const lines = offered.map(({ usage, summary }) => `- ${ownCode(`/bailiwick ${usage}`)}: ${prose(summary)}`)
  const none = 'None: commands need access to this repository.'
  return [
    `${lead}Commands that ${code(login, 60)} can run here, on the first line of a comment:`,
    lines.length > 0 ? lines.join('\n') : none,
    'Edited comments, quotes and comments of bots are ignored.',
  ].join('\n\n')
}
