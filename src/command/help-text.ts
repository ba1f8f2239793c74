import { code, ownCode, prose } from '../message/markdown.ts'

/** A command as people may be told of it. */
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
