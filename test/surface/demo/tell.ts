import { stripVTControlCharacters, styleText } from 'node:util'
import type { Annotation, CheckRun, Comment } from '../../../tools/github/world.ts'

type Style = Parameters<typeof styleText>[0]

const paint = (style: Style, text: string) => styleText(style, text, { stream: process.stdout })

/** Prints the parts of the story as a person would follow it. */
export const tell = {
  title: (text: string) => print(`\n${paint('bold', text)}`),
  step: (text: string) => print(`\n${paint('cyan', '▸')} ${text}`),
  said: (who: string, text: string) => print(`  ${paint('yellow', who)}: ${text}`),
  note: (text: string) => print(paint('dim', `  ${text}`)),
  list: (lines: readonly string[]) => print(lines.map(line => `    ${line}`).join('\n')),
  check,
  comment,
  annotation,
}

function print(text: string): void {
  console.log(text)
}

function check(run: CheckRun): void {
  const good = run.conclusion === 'success'
  const mark = good ? paint('green', '✔') : paint('red', '✖')
  print(`  ${mark} check run ${paint('bold', run.name)}: ${run.output.title}`)
}

/** The lines around an annotation, as the pull request shows them. */
function annotation(file: string, note: Annotation): void {
  const lines = file.split('\n')
  const from = Math.max(1, note.start_line - 2)
  print(`    ${paint('dim', `${note.path}:${note.start_line}`)}`)
  for (let number = from; number <= note.start_line; number++) {
    const text = `${String(number).padStart(4)} │ ${lines[number - 1] ?? ''}`
    print(`    ${number === note.start_line ? paint('red', text) : paint('dim', text)}`)
  }
  for (const line of note.message.split('\n')) print(`         ${paint('red', '┃')} ${line}`)
}

/** A comment without its markers and folds. */
function comment({ user, body }: Comment): void {
  const text = stripVTControlCharacters(body)
    .replace(/<!--[\s\S]*?-->\n?/g, '')
    .replace(/<\/?(details|summary|code)>/g, '')
    .replace(/\n{2,}/g, '\n')
    .trim()
  print(`  ${paint('yellow', user.login)} comments:`)
  print(
    text
      .split('\n')
      .map(line => `    ${paint('dim', '│')} ${line}`)
      .join('\n'),
  )
}
