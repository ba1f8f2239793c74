import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BailiwickError } from '../../src/base/errors.ts'
import { openSnapshot, packSnapshot } from '../../src/git/tree.ts'
import { canonical } from '../../src/kube/node.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { compare, type Outcome, type Result } from './outcome.ts'
import { readJsonExactly, readOutput } from './read-output.ts'

const CORPUS = join(import.meta.dirname, '../../../shared/oracles/kustomize-corpus.json')
const STRICTER = join(import.meta.dirname, '../../docs/stricter-on-purpose.md')

/** A case of kustomize's own tests: the files, and what kustomize 5.8.1 made of them. */
interface CorpusCase {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly target: string
  /** What kustomize must be able to do for it. */
  readonly features: readonly string[]
  readonly expected?: string
  readonly error?: unknown
}

type Conformance =
  | Exclude<Outcome, { readonly verdict: 'refused' }>
  | {
      readonly verdict: 'refused'
      readonly why: string
      /** What the engine leaves out on purpose and the case needs; none: it ought to build. */
      readonly beyond: readonly string[]
    }
  | { readonly verdict: 'stricter'; readonly why: string }

/** Every case of the corpus beside the project; undefined where it is absent. */
export function corpus(): CorpusCase[] | undefined {
  return existsSync(CORPUS) ? (JSON.parse(readFileSync(CORPUS, 'utf8')) as CorpusCase[]) : undefined
}

/** What of kustomize the engine leaves out (docs/supported.md), as the corpus calls it. */
const BEYOND =
  /^f:(?:vars|openapi|crds|validators|helm.*)$|^openapi\.|^configurations\.varReference$|^UNKNOWN:|remote|[Hh]elm|^exec|container/

/** How our build of a case compares with what kustomize made of it. */
export function conformanceOf(example: CorpusCase, stricter: readonly Exception[] = exceptions()): Conformance {
  const outcome = compare(built(example), expected(example))
  if (outcome.verdict !== 'refused') return outcome
  const exception = stricter.find(one => one.pattern.test(example.name))
  if (exception) return { verdict: 'stricter', why: exception.reason }
  return { ...outcome, beyond: example.features.filter(feature => BEYOND.test(feature)) }
}

function built(example: CorpusCase): Result {
  const clean = (path: string): string => path.replace(/^\.?\/?/, '').replace(/\/$/, '')
  const files = Object.entries(example.files).map(([path, content]) => ({ path: clean(path), content }))
  try {
    const objects = build(openSnapshot(packSnapshot(files)), '', clean(example.target))
    return { objects: objects.map(object => readJsonExactly(canonical(object.root))) }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return { error: `${error.code}: ${error.message}` }
  }
}

function expected(example: CorpusCase): Result {
  return example.expected === undefined ? { error: 'must fail' } : { objects: readOutput(example.expected) }
}

interface Exception {
  readonly pattern: RegExp
  readonly reason: string
}

/** The table of docs/stricter-on-purpose.md: cases that kustomize builds and we refuse, with the reason. `*` is any text. */
export function exceptions(): Exception[] {
  const rows = readFileSync(STRICTER, 'utf8').matchAll(/^\| `([^`]+)` \| (.+?) \|$/gm)
  return [...rows].map(([, name = '', reason = '']) => ({
    pattern: new RegExp(`^${name.split('*').map(escaped).join('.*')}$`),
    reason,
  }))
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
