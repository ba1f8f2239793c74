import { COMMANDS, commandNamed } from '../src/surface/cli/commands.ts'
import { helpText } from '../src/surface/cli/usage.ts'

const BEGIN = '<!-- commands: written by npm run generate from the usage texts in src/surface/cli -->\n'
const END = '<!-- end of commands -->\n'

/** docs/command-line.md with what `bailiwick help COMMAND` prints, for every command. An option that several have is explained once. */
export async function withCommandReference(text: string): Promise<string> {
  const [before, rest] = [text.split(BEGIN)[0]!, text.split(END)[1]]
  if (rest === undefined) throw new Error(`no place for the commands: ${END}`)
  const usages = await Promise.all(COMMANDS.map(async ([name]) => helpText((await commandNamed(name))!.command)))
  const shared = sharedOptions(usages)
  const chapters = COMMANDS.map(([name, summary], index) => chapter(name, summary, usages[index]!, shared))
  return `${before}${BEGIN}\n${[sharedChapter(shared), ...chapters].join('\n')}\n${END}${rest}`
}

/** An option or argument in a usage text, with the lines that continue its explanation. */
const OPTION = /^ {2}(?=\S)(\S+)[^\n]*(?:\n {3,}\S[^\n]*)*\n?/gm

const optionsOf = (usage: string) => [...usage.matchAll(OPTION)].map(([text]) => text.trimEnd())

/** The explanations that stand in more than one usage text. */
function sharedOptions(usages: readonly string[]): ReadonlySet<string> {
  const all = usages.flatMap(usage => [...new Set(optionsOf(usage))])
  return new Set(all.filter((text, index) => all.indexOf(text) !== index))
}

function sharedChapter(shared: ReadonlySet<string>): string {
  return `### Options of several commands\n\nThe first line of a usage, or *Also* below it, names those that a command has.\n\n\`\`\`text\n${[...shared].join('\n')}\n\`\`\`\n`
}

function chapter(name: string, summary: string, usage: string, shared: ReadonlySet<string>): string {
  const own = usage.replace(OPTION, text => (shared.has(text.trimEnd()) ? '' : text)).replace(/\n{3,}/g, '\n\n')
  const names = optionsOf(usage).flatMap(text => (shared.has(text) ? [text.trim().split(' ')[0]!] : []))
  const unnamed = names.filter(option => !usage.split('\n', 1)[0]!.includes(option))
  const also = unnamed.length === 0 ? '' : `\nAlso: ${unnamed.map(option => `\`${option}\``).join(', ')}.\n`
  return `### ${name}\n\n${summary}.\n\n\`\`\`text\nusage: bailiwick ${own.trimEnd()}\n\`\`\`\n${also}`
}
