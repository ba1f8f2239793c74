import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import { quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { MatchWork } from '../../flux/pack-budget.ts'
import type { TreeEntry } from '../../git/tree.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { type AttributeLine, fits, readAttributes } from './support/attributes.ts'
import { violationIn } from './support/in-repository.ts'
import { renderedDirectories, renderedFiles } from './support/rendered-tree.ts'

/** Comparisons of patterns with paths, for all `.gitattributes` of a repository together. */
const MAX_STEPS = 30_000_000
const MANIFEST = /\.(?:ya?ml|json|env|properties|txt|conf|toml|sh)$|^Kustomization$/i

/** No attribute of git hides what is deployed, or changes it on its way. */
export const gitAttributesTamper: Rule = {
  id: 'git-attributes-tamper',
  severity: 'medium',
  title: 'Git attributes that change manifests',
  why: "`linguist-generated` and `-diff` collapse a file in GitHub's diff, where reviewers overlook it. `filter`, `ident`, `export-subst`, `working-tree-encoding` and `eol=crlf` change the bytes of a checkout or archive, and `export-ignore` removes files from it. Bailiwick, Flux and reviewers then read different files.",
  source: 'gitattributes(5); GitHub, Customizing how changed files appear',
  docs: 'Set such attributes only for files that are not deployed. `* text=auto` is allowed.',
  *checkRepository(repository) {
    const places = renderedDirectories(repository).filter(({ facts }) => facts.attributes)
    if (places.length === 0) return
    const files = [...renderedFiles(repository)].filter(({ entry }) => MANIFEST.test(entry.name))
    const work = new MatchWork(MAX_STEPS)
    for (const { path, facts } of places) yield* tampering(repository, path, facts.attributes!.path, files, work)
  },
}

interface RenderedFile {
  readonly entry: TreeEntry
  readonly reader: FleetNode
}

function* tampering(
  repository: EvaluatedRepository,
  domain: string,
  path: string,
  all: readonly RenderedFile[],
  work: MatchWork,
): Generator<Violation> {
  work.spend(all.length)
  const files = domain === '' ? all : all.filter(({ entry }) => entry.path.startsWith(`${domain}/`))
  if (files.length === 0) return
  const lines = readAttributes(Buffer.from(repository.tree.read(path)).toString('utf8'))
  const parts = domain === '' ? [] : domain.split('/')
  for (const line of lines) {
    const effect = effectOf(line)
    if (!effect) continue
    const file = files.find(({ entry }) => fits(line.pattern, parts, entry.path.split('/'), work))
    if (!file) continue
    yield {
      ...violationIn(repository, file.reader, path, {
        line: line.line,
        value: `${line.pattern} ${effect.attribute}`,
        message: message`${quoted('path', path)} sets ${quoted('value', effect.attribute)} for ${quoted('value', line.pattern)}, which matches the deployed file ${quoted('path', file.entry.path)}: it ${untyped(effect.what)}. Allowed: such attributes only for files that are not deployed.`,
        fix: message`Remove the attribute, or change its pattern to match no deployed file.`,
      }),
      level: effect.level,
    }
  }
}

interface Effect {
  readonly attribute: string
  readonly level: 'violation' | 'warning'
  readonly what: string
}

function effectOf({ attributes }: AttributeLine): Effect | undefined {
  const effects = attributes.flatMap(attribute => effect(attribute) ?? [])
  return effects.find(({ level }) => level === 'violation') ?? effects[0]
}

function effect(attribute: string): Effect | undefined {
  const [name = '', value] = attribute.split('=') as [string, string?]
  const change = (what: string): Effect => ({ attribute, level: 'violation', what })
  const fold = (what: string): Effect => ({ attribute, level: 'warning', what })
  if (name === 'filter' && value !== undefined) return change('makes a checkout differ from the commit')
  if (name === 'export-ignore') return change('removes the file from archives of the repository')
  if (name === 'export-subst' || name === 'ident') return change('changes the file at checkout or in an archive')
  if (name === 'working-tree-encoding' && value !== undefined) return change('changes the encoding at checkout')
  if (name === 'eol' && value?.toLowerCase() === 'crlf') return change('changes the line endings at checkout')
  if (name === 'crlf') return change('changes the line endings at checkout')
  if (name === 'linguist-generated' && value !== 'false')
    return fold('collapses the file in the diff of a pull request')
  return name === '-diff' ? fold('shows the file as binary in the diff of a pull request') : undefined
}
