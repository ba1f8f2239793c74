import { resolve } from 'node:path'
import type { Origin, Step } from '../../base/origin.ts'
import type { Json, Node } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Command, Io } from './command.ts'
import type { Given } from './given.ts'
import { type DirectoryRendering, exactJson, exactOf, renderDirectory, yamlText } from './rendering.ts'

const NEWLINE = 0x0a

class Shown {
  private readonly show: (file: string) => string

  constructor(show: (file: string) => string) {
    this.show = show
  }

  collect(node: Node, pointer: string, places: [string, Json][], key = node.origin): void {
    places.push([pointer, this.origin(node.type === 'scalar' ? node.origin : key)])
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) this.collect(item, `${pointer}/${index}`, places)
    } else if (node.type === 'map') {
      for (const [name, field] of node.fields) {
        const part = name.replaceAll('~', '~0').replaceAll('/', '~1')
        this.collect(field.value, `${pointer}/${part}`, places, field.key)
      }
    }
  }

  origin(origin: Origin): Json {
    const place = `${this.show(origin.file)}:${origin.line}:${origin.column}`
    return origin.via ? [place, ...origin.via.map(step => this.step(step))] : place
  }

  step({ step, file, line }: Step): string {
    return `${step} ${this.show(file)}:${line}`
  }
}

/** `bailiwick render`: what a directory builds, as `kustomize build --load-restrictor LoadRestrictionsNone` would. */
export const render: Command = {
  name: 'render',
  usage: [
    ['[DIR]', 'the directory'],
    ['[--root DIR]', 'no file outside of this folder is read (default: the working copy)'],
    ['[-o yaml|json]', 'yaml for people and kubectl'],
    ['[--origins]', 'where each value was written, instead of the objects'],
    ['[--stdin]', 'answer requests, one JSON object on each line, with JSON lines; no DIR'],
  ],
  run,
}

async function run(given: Given, io: Io): Promise<number> {
  if (given.has('stdin')) return answerAll(io)
  const [directory, root] = [given.one('DIR'), given.one('root')]
  if (directory === undefined) throw given.wrong('DIR is missing')
  const rendered = await renderDirectory({
    directory: resolve(io.cwd, directory),
    ...(root === undefined ? {} : { root: resolve(io.cwd, root) }),
    cwd: io.cwd,
  })
  io.stdout(show(rendered, given.format, given.has('origins')))
  return 0
}

function show({ objects, show }: DirectoryRendering, output: string, origins: boolean): string {
  const shown = objects.map(object => (origins ? originsOf(object, show) : exactOf(object.root)))
  if (output === 'json') return `${exactJson(shown, 2)}\n`
  return yamlText(shown)
}

/** Answers JSON lines with JSON lines, in order, until the input ends. */
async function answerAll(io: Io): Promise<number> {
  // loads all of the Flux code, which building a directory does not need
  const { answerRender } = await import('./render-request.ts')
  for await (const line of readLines(io.stdin)) {
    if (line.trim() !== '') io.stdout(`${exactJson(await answerRender(line))}\n`)
  }
  return 0
}

/** The lines of a stream, decoded one by one: only a line feed ends one, whatever else a JSON text contains. */
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

/**
 * The identity of an object, what it passed through, and who wrote each part of it, as in `bailiwick render --origins`:
 *
 * - `apiVersion`, `kind`, `namespace` and `name`: its identity ('' for no namespace);
 * - `trail`: the overlays and components that it passed, innermost first, each `step file:line`;
 * - `origins`: for every JSON pointer into the object ('' is the object itself) the place `file:line:column`. A value
 *   that passed through something has a list instead: the place where it was written, then each `step file:line` on its
 *   way, first to last. A map or list is where its key was written.
 *
 * `show` formats the path of a file for output.
 */
export function originsOf(object: KubeObject, show: (file: string) => string): Json {
  const places: [string, Json][] = []
  const file = new Shown(show)
  file.collect(object.root, '', places)
  return { ...idOf(object), trail: object.trail.map(step => file.step(step)), origins: Object.fromEntries(places) }
}
