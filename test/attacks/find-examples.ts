import type { RuleExample } from '../../src/rules/catalogue.ts'
import type { Finding, NodeFailure, Verdict } from '../../src/rules/model/finding.ts'
import { fixesOf } from '../../src/verdict/fixes.ts'
import { type AttackCase, changesOf, filesOf, readCase, readCases, treesOf, type Variant } from './attack-case.ts'
import { evaluateTrees } from './evaluate-trees.ts'
import { caseIds } from './shares.ts'

/** Longer examples are not read, and a terminal has about 100 columns. */
const MAX_LINES = 40
const MAX_COLUMNS = 95
const MAX_FILES = 3
/** It is found beside every other rule that a new HelmRelease breaks. */
const BESIDE = 'chart-not-rendered'

interface Candidate {
  readonly rule: string
  readonly one: AttackCase
  readonly name: string
  readonly variant: Variant
  readonly files: readonly RuleExample['files'][number][]
}

/** The smallest tested change of each rule that no other rule answers, by the id of the rule. */
export function findExamples(): Record<string, RuleExample> {
  const found: Record<string, RuleExample> = {}
  for (const [rule, own] of Map.groupBy(candidates(), one => one.rule)) {
    own.sort((a, b) => sizeOf(a) - sizeOf(b) || (a.one.id < b.one.id ? -1 : 1))
    for (const candidate of own) {
      const example = exampleOf(candidate)
      if (!example) continue
      found[rule] = example
      break
    }
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The example that a variant of a case gives, for the rule that alone answers it; undefined if several do, or none. */
export function exampleOfVariant(id: string, name: string): { rule: string; example: RuleExample } | undefined {
  if (!caseIds().includes(id)) return undefined
  const one = readCase(id)
  const variant = one.variants.get(name)
  if (!variant) return undefined
  const own = candidatesOf(one).find(candidate => candidate.name === name)
  const example = own && exampleOf(own)
  return own && example && { rule: own.rule, example }
}

const candidates = (): Candidate[] => readCases().flatMap(candidatesOf)

function candidatesOf(one: AttackCase): Candidate[] {
  return [...one.variants].flatMap(([name, variant]) => {
    const { violations = [], warnings = [], errors = [] } = variant.expect ?? one.expect
    const all = [...new Set([...violations, ...warnings, ...errors])]
    const [rule = all[0], ...others] = all.filter(id => id !== BESIDE)
    const files = filesOfVariant(variant)
    return rule === undefined || others.length > 0 || !files ? [] : [{ rule, one, name, variant, files }]
  })
}

/** What a variant adds or changes, if it is little text. The list of resources that a short form completes is left out. */
function filesOfVariant(variant: Variant): RuleExample['files'][number][] | undefined {
  const files: RuleExample['files'][number][] = []
  for (const [repository, changed] of Object.entries(changesOf(variant))) {
    for (const [path, text] of Object.entries(changed)) {
      const own = variant.change?.[repository]
      if (path.endsWith('/kustomization.yaml') && own?.[path] === undefined) continue
      if (typeof text !== 'string') return undefined
      files.push({ repository, path, text })
    }
  }
  const lines = files.reduce((sum, { text }) => sum + text.split('\n').length, 0)
  const isShort = (text: string) => text.split('\n').every(line => line.length <= MAX_COLUMNS)
  const isShown = files.every(({ text }) => /^[\n\x20-\x7e]*$/.test(text) && isShort(text))
  return files.length === 0 || files.length > MAX_FILES || lines > MAX_LINES || !isShown ? undefined : files
}

const linesOf = (text: string) => text.replace(/\n$/, '').split('\n').length

const sizeOf = ({ files }: Candidate) => files.reduce((sum, { text }) => sum + text.length, 200 * (files.length - 1))

function exampleOf({ rule, one, name, variant, files }: Candidate): RuleExample | undefined {
  const after = treesOf(one.world, one.base, changesOf(variant))
  const { verdict } = evaluateTrees(after, treesOf(one.world, one.base))
  const [finding, ...others] = newOf(verdict).filter(found => idOf(found) === rule || idOf(found) !== BESIDE)
  if (!finding || others.some(other => idOf(other) !== idOf(finding)) || idOf(finding) !== rule) return undefined
  const repository = one.world.repositories.find(({ url }) => url === finding.origin.repository)
  const at = files.findIndex(file => file.repository === repository?.name && file.path === finding.origin.file)
  const [first] = files.slice(at, at + 1)
  if (at < 0 || !first || !repository || finding.origin.line > linesOf(first.text)) return undefined
  const texts = filesOf(one.world, one.base, changesOf(variant)).get(repository)
  const read = (path: string) => texts?.find(file => file.path === path)?.content?.toString()
  const fix = fixesOf(verdict, repository.url, read).find(({ path }) => path === first.path)
  return {
    ...{ title: one.title, case: one.id, variant: name, line: finding.origin.line },
    files: [first, ...files.filter(file => file !== first)],
    ...{ message: finding.message, fix: finding.fix },
    ...(fix?.patch ? { patch: fix.patch } : {}),
  }
}

const newOf = ({ violations, warnings, errors }: Verdict) =>
  [...violations, ...warnings, ...errors].filter(({ state }) => state === 'new')

const idOf = (one: Finding | NodeFailure): string => ('code' in one ? one.code : one.rule)
