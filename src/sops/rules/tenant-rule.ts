import { isNode, isSeq, LineCounter, parseDocument } from 'yaml'
import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { comparePatterns } from '../../kustomize/select/compare-patterns.ts'
import { creationRuleFor, SOPS_CONFIG } from './creation-rule.ts'

/** A `.sops.yaml` with one additional rule. */
export interface TenantRuleEdit {
  readonly path: string
  readonly content: string
}

/** File name patterns for YAML; the second one is for rules that do not match `.yml`. */
const ENDINGS = ['.*\\.ya?ml$', '.*\\.yaml$']
/** Fields that the new rule takes over. */
const FIELDS = new Set([
  ...['path_regex', 'age', 'pgp', 'mac_only_encrypted'],
  ...['encrypted_regex', 'unencrypted_regex', 'encrypted_suffix', 'unencrypted_suffix'],
])

/**
 * Gives the files of one tenant their own creation rule with the current recipients, so that a later change can set other recipients for
 * this tenant alone. Inserts it before the rule that matches `file` now, because SOPS uses the first match. The new rule matches
 * nothing that the current rule does not match. Every other character stays unchanged. Undefined if the tenant's own rule already
 * matches. Throws `sops-config` if no rule can be inserted.
 */
export async function addTenantRule(tree: Tree, directory: string, file: string): Promise<TenantRuleEdit | undefined> {
  const { recipients, origin, selection, macOnlyEncrypted } = await creationRuleFor(tree, file)
  const path = origin.file
  const text = textOf(tree, path)
  const before = rulesIn(text)
  const folder = `^${quoted(`${directory}/`.slice(path.length - SOPS_CONFIG.length))}`
  if (before.some(one => ENDINGS.some(ending => one.path_regex === `${folder}${ending}`))) return undefined
  const matching = before.find((_, index) => lineOf(text, index) === origin.line)
  const pattern = ENDINGS.map(ending => `${folder}${ending}`).find(one => matching && isWithin(one, matching))
  if (pattern === undefined) throw unclear(path, origin.line)
  const lines = text.split('\n')
  const dash = (lines[origin.line - 1] ?? '').slice(0, origin.column - 1)
  // only a block-style list can be extended without rewriting the file
  if (!/^ *- +$/.test(dash)) throw unclear(path, origin.line)
  const keysOf = (kind: 'age' | 'pgp') =>
    recipients
      .filter(one => one.kind === kind)
      .map(one => one.text)
      .join(',')
  const fields = [
    ['path_regex', pattern],
    [selection?.field ?? '', selection?.value.text ?? ''],
    ['mac_only_encrypted', macOnlyEncrypted ? 'true' : ''],
    ['age', keysOf('age')],
    ['pgp', keysOf('pgp')],
  ].filter(([, value]) => value !== '')
  const indent = dash.slice(0, dash.indexOf('-'))
  const eol = text.includes('\r\n') ? '\r' : ''
  const rule = fields.map(
    ([name, value], index) => `${indent}${index === 0 ? '- ' : '  '}${name}: ${scalar(value!)}${eol}`,
  )
  let at = origin.line - 1
  // comments above a rule belong to that rule
  while (at > 0 && /^ *#/.test(lines[at - 1]!)) at--
  const content = [...lines.slice(0, at), ...rule, ...lines.slice(at)].join('\n')
  const now = rulesIn(content)
  const index = now.findIndex((one, place) => JSON.stringify(one) !== JSON.stringify(before[place]))
  if (JSON.stringify(now.toSpliced(index, 1)) !== JSON.stringify(before)) throw unclear(path, origin.line)
  return { path, content }
}

type WrittenRule = Readonly<Record<string, unknown>>

function rulesIn(text: string): readonly WrittenRule[] {
  const data = parseDocument(text).toJS({ maxAliasCount: 100 }) as { readonly creation_rules?: unknown } | null
  const rules: readonly unknown[] = Array.isArray(data?.creation_rules) ? data.creation_rules : []
  return rules.map(one => (one !== null && typeof one === 'object' ? { ...one } : {}))
}

/** The line where a rule starts. */
function lineOf(text: string, index: number): number | undefined {
  const lines = new LineCounter()
  const list = parseDocument(text, { lineCounter: lines }).get('creation_rules')
  const item: unknown = isSeq(list) ? list.items[index] : undefined
  return isNode(item) && item.range ? lines.linePos(item.range[0]).line : undefined
}

/** Whether the current rule matches every path that the pattern matches, and has only fields that the new rule can take over. */
function isWithin(pattern: string, rule: WrittenRule): boolean {
  if (Object.keys(rule).some(field => !FIELDS.has(field))) return false
  const { path_regex: general } = rule
  return general === undefined || general === null || comparePatterns(pattern, String(general)) === 'within'
}

/** Single-quoted unless every YAML version reads the value plainly; single quotes keep backslashes literal. */
const scalar = (value: string) => (/^[A-Za-z0-9,]+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`)

const quoted = (text: string) => text.replaceAll(/[.+*?()[\]{}|^$\\]/g, '\\$&')

const textOf = (tree: Tree, path: string) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(path))

function unclear(file: string, line: number): BailiwickError {
  return new BailiwickError('sops-config', `${file}: no place for a creation rule of one tenant`, {
    fix: 'Write each rule on lines of its own, with a path_regex such as `^FOLDER/.*\\.yaml$`.',
    origin: { repository: '', file, line, column: 1 },
  })
}
