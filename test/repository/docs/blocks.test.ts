import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { removedWarning } from '../../../src/base/removed.ts'
import { COMMANDS } from '../../../src/surface/cli/commands.ts'
import { commands } from '../../../workers/commands/registry.ts'
import { blocksOf } from './blocks-of.ts'
import { commandOptions } from './command-options.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const pages = globSync(['*.md', 'docs/*.md', 'deploy/**/*.md', 'test/*/README.md'], { cwd: root })
const LANGUAGES = ['sh', 'text', 'yaml', 'json', 'diff', 'mermaid']

/** What is wrong with a block of commands: it must name what runs it, or say why nothing does. */
function unproven(page: string, { text, comment = '' }: { text: string; comment?: string }): string | undefined {
  const [, reason] = /^not run: (.+)$/.exec(comment) ?? []
  if (reason !== undefined) return reason.length < 15 ? `no reason: ${comment}` : undefined
  const [, file] = /^run by (\S+)$/.exec(comment) ?? []
  if (file === undefined) return 'neither <!-- run by FILE --> nor <!-- not run: REASON --> on the line before'
  if (!existsSync(join(root, file))) return `${file} does not exist`
  const runner = read(file)
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const runsPage = runner.includes(`'${page}'`)
  return runsPage || lines.every(line => runner.includes(line)) ? undefined : `${file} does not read ${page}`
}

test('a block of commands without a mark, with an empty reason, or with a file that does not run it is found', () => {
  const text = 'npm ci'
  expect(unproven('README.md', { text })).toMatch(/^neither/)
  expect(unproven('README.md', { text, comment: 'not run: later' })).toMatch(/^no reason/)
  expect(unproven('README.md', { text, comment: 'run by test/none.ts' })).toMatch(/does not exist/)
  expect(unproven('README.md', { text: 'npm rm', comment: 'run by .ci/run' })).toMatch(/does not read/)
  expect(unproven('README.md', { text, comment: 'run by .ci/run' })).toBeUndefined()
  const [block] = blocksOf('a\n\n<!-- not run: x -->\n```sh\nnpm ci\n```\n')
  expect(block).toEqual({ line: 4, language: 'sh', text, comment: 'not run: x' })
})

describe.each(pages)('%s', page => {
  const blocks = blocksOf(read(page))
  const [, runner] = /^<!-- commands (run by \S+) -->$/m.exec(read(page)) ?? []
  const ofPage = runner === undefined ? {} : { comment: runner }

  test('names the language of each block, and what runs its commands', () => {
    const problems = blocks.flatMap(block => {
      const where = `${page}:${block.line}`
      if (!LANGUAGES.includes(block.language)) return [`${where}: language "${block.language}"`]
      const proof = block.comment === undefined ? { ...block, ...ofPage } : block
      const problem = block.language === 'sh' ? unproven(page, proof) : undefined
      return problem === undefined ? [] : [`${where}: ${problem}`]
    })
    expect(problems).toEqual([])
  })

  test('describes each picture in words, and uses the words of the standard', () => {
    for (const { language, text, line } of blocks)
      if (language === 'mermaid') expect(text, `${page}:${line}`).toMatch(/accTitle: \S[\s\S]*accDescr: \S/)
    const prose = read(page).replace(/^ *(`{3,})[\s\S]*?^ *\1$/gm, '')
    expect(prose.match(/<img (?![^>]*alt="[^"]{10,}")[^>]*>|!\[\]/g) ?? []).toEqual([])
    const old = /\b(?:nobody|somebody|anybody|said|told|platform admins?|judge[sd]?|judging|is no kind of)\b/gi
    expect(prose.replace(/`[^`]*`/g, '').match(old) ?? []).toEqual([])
  })

  test('shows YAML and JSON that can be parsed', () => {
    for (const { language, text, line } of blocks) {
      if (language === 'json') expect(() => JSON.parse(text), `${page}:${line}`).not.toThrow()
      const errors = language === 'yaml' ? parseAllDocuments(text).flatMap(document => document.errors) : []
      expect(errors, `${page}:${line}`).toEqual([])
    }
  })

  test('names only commands and options that exist', async () => {
    const options = new Map<string, ReadonlySet<string>>()
    for (const [name] of COMMANDS) options.set(name, await commandOptions(name))
    for (const name of ['version', 'help', '--version', '--help']) options.set(name, new Set())
    const usages = new Map(commands.map(({ name, usage }) => [name, usage]))
    const snippets = [
      ...read(page)
        .replaceAll('\\|', '|')
        .matchAll(/`([^`\n]+)`/g),
      ...blocks.flatMap(({ text }) => text.split('\n').map(line => ['', line] as const)),
    ]
    const lines = snippets.flatMap(([, text = '']) => [...text.matchAll(COMMAND_LINE)])
    const unknown = lines.filter(([, slash, name = '', rest = '']) => {
      if (page === 'CHANGELOG.md' && removedWarning(`${slash || ''}bailiwick ${name}`) !== undefined) return false
      const used = [...rest.matchAll(/(?<=[ [])--[a-z][a-z-]+/g)].map(([option]) => option)
      if (slash === '/') return !usages.has(name) || used.some(option => !usages.get(name)!.includes(option))
      return !options.has(name) || used.some(option => !options.get(name)!.has(option))
    })
    expect(unknown.map(([line]) => line)).toEqual([])
  })
})

/** A command of the command line, or of comments, to the end of its arguments. */
const COMMAND_LINE = /(?<!-n |generic |[\w./:@-])(\/?)bailiwick ((?:--)?[a-z][a-z-]+)(?![\w/])([^`#|&;]*)/g
