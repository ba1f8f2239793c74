import { resolve } from 'node:path'
import type { Command, Io } from './command.ts'
import { exactJson, exactOf } from './exact-json.ts'
import { parseOptions } from './parse-options.ts'
import { type DirectoryRendering, renderDirectory } from './render-directory.ts'
import { originsOf } from './render-origins.ts'
import { usageError } from './usage-error.ts'
import { yamlText } from './yaml-text.ts'

const USAGE = 'render DIR [--root DIR] [-o yaml|json] [--origins]'

/** `bailiwick render`: what a directory builds, as `kustomize build --load-restrictor LoadRestrictionsNone` would. */
export const render: Command = {
  name: 'render',
  usage: `${USAGE}\n       render --stdin`,
  run,
}

async function run(args: readonly string[], io: Io): Promise<number> {
  const options = parseOptions(args, ['root', 'output'], USAGE, ['origins', 'stdin'])
  if (options.has('stdin')) return answerAll(io)
  const [directory, more] = options.positionals
  if (!directory || more !== undefined) throw usageError(USAGE, 'exactly one DIR is required')
  const [output, root] = [options.format(['yaml', 'json']), options.one('root')]
  const rendered = await renderDirectory({
    directory: resolve(io.cwd, directory),
    ...(root === undefined ? {} : { root: resolve(io.cwd, root) }),
    cwd: io.cwd,
  })
  io.stdout(show(rendered, output, options.has('origins')))
  return 0
}

function show({ objects, show }: DirectoryRendering, output: 'yaml' | 'json', origins: boolean): string {
  const shown = objects.map(object => (origins ? originsOf(object, show) : exactOf(object.root)))
  if (output === 'json') return `${exactJson(shown, 2)}\n`
  return yamlText(shown)
}

/** Answers JSON lines with JSON lines, in order, until the input ends. */
async function answerAll(io: Io): Promise<number> {
  // it brings all of Flux, which a directory does not need
  const { answerRender } = await import('./render-request.ts')
  for await (const line of readLines(io.stdin)) {
    if (line.trim() !== '') io.stdout(`${exactJson(await answerRender(line))}\n`)
  }
  return 0
}

const NEWLINE = 0x0a

/** The lines of a stream, as bytes decoded line by line: only a line feed ends one, whatever else stands in a JSON text. */
async function* readLines(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  let started: Uint8Array[] = []
  for await (const part of stream) {
    const chunk = typeof part === 'string' ? Buffer.from(part) : part
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...started, chunk.subarray(from, end)]).toString()
      started = []
      from = end + 1
    }
    if (from < chunk.length) started.push(chunk.subarray(from))
  }
  if (started.length > 0) yield Buffer.concat(started).toString()
}
