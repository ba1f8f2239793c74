import { code, prose } from '../report/markdown.ts'

/** A command as people may be told of it. */
export interface Offered {
  readonly usage: string
  readonly summary: string
}

/** What somebody may do here, as Markdown. `about`: what was not understood. */
export function helpText(login: string, offered: readonly Offered[], about?: string): string {
  const lead = about === undefined ? '' : `There is no command ${code(about, 60)}. `
  const lines = offered.map(({ usage, summary }) => `- ${code(`/bailiwick ${usage}`)}: ${prose(summary)}`)
  const none = 'Nothing: commands are for who works on this repository.'
  return [
    `${lead}What ${code(login, 60)} may ask for here, on the first line of a comment:`,
    lines.length > 0 ? lines.join('\n') : none,
    'Comments that were edited, quoted or written by bots are not read.',
  ].join('\n\n')
}
