import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import { comparePatterns } from '../../expr/regexp/pattern.ts'
import type { Tree } from '../../git/tree.ts'
import { creationRuleFor, findCreationRule, type SealingRule, SOPS_CONFIG } from './creation-rule.ts'

/** The rule that encrypts a tenant's file, and the `.sops.yaml` that contains it. */
interface TenantSealing {
  readonly sopsConfig?: TenantRuleEdit
  readonly rule: SealingRule
  /** Plain text: why the tenant has no rule of its own. */
  readonly note?: string
}

/**
 * The rule that encrypts a tenant's file, and a `.sops.yaml` with the tenant's own rule for the same recipients if it has none yet.
 * Throws `sops-config` if no rule matches. `config`: the `.sops.yaml` as already changed for another file of this tenant.
 */
export async function withTenantRule(
  tree: Tree,
  { directory, file }: { readonly directory: string; readonly file: string },
  config?: TenantRuleEdit,
): Promise<TenantSealing> {
  const rule = await creationRuleFor(tree, file)
  if (config) return { rule, sopsConfig: config }
  try {
    const edit = await addTenantRule(tree, directory, file)
    return edit ? { rule, sopsConfig: edit } : { rule }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'sops-config') throw error
    return { rule, note: `This tenant has no creation rule of its own: ${error.message}.` }
  }
}

/** A `.sops.yaml` with one additional rule. */
interface TenantRuleEdit {
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

/** A `.sops.yaml` with one recipient more. */
interface EditedConfig {
  readonly path: string
  readonly content: string
  /** The recipients that the rule had before; empty for a new rule. */
  readonly others: readonly string[]
}

/**
 * Makes an age key a recipient of what is encrypted in a directory: of the rule that fits its files, or of a new rule behind the
 * others. Throws `sops-config` for a `.sops.yaml` in which that is not clear.
 */
export async function addRecipient(tree: Tree, directory: string, recipient: string): Promise<EditedConfig> {
  const probe = `${directory === '' ? '' : `${directory}/`}tenant/auth.yaml`
  const found = await findCreationRule(tree, probe)
  if (found.rule) return withRecipient(tree, found.rule, recipient)
  const path = found.config ?? SOPS_CONFIG
  const folder = path.slice(0, -SOPS_CONFIG.length)
  const rule = {
    path_regex: `^${`${directory}/`.slice(folder.length).replaceAll(/[.+*?()[\]{}|^$\\]/g, '\\$&')}.*\\.yaml$`,
    encrypted_regex: '^(data|stringData)$',
    age: recipient,
  }
  if (directory === '') rule.path_regex = '\\.yaml$'
  if (found.config === undefined) {
    const lines = Object.entries(rule).map(
      ([name, value], index) => `${index === 0 ? '  - ' : '    '}${name}: ${value}`,
    )
    return { path, content: `creation_rules:\n${lines.join('\n')}\n`, others: [] }
  }
  const text = textOf(tree, path)
  const document = parseDocument(text)
  const rules = document.get('creation_rules')
  if (!isSeq(rules)) throw unclearRecipients(path, 1)
  rules.add(document.createNode(rule))
  return { path, content: document.toString({ lineWidth: 0 }), others: [] }
}

function withRecipient(tree: Tree, rule: SealingRule, recipient: string): EditedConfig {
  const { file, line } = rule.origin
  const text = textOf(tree, file)
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter })
  const rules = document.get('creation_rules')
  const items = isSeq(rules) ? rules.items : []
  const found = items.find((item): item is YAMLMap => isMap(item) && counter.linePos(item.range![0]).line === line)
  const holder = found && (found.has('age') ? found : groupOf(found))
  if (!holder) throw unclearRecipients(file, line)
  const age = holder.get('age', true)
  const others = rule.recipients.map(one => one.text)
  if (isSeq(age)) age.add(document.createNode(recipient))
  else if (isScalar(age) && typeof age.value === 'string') {
    const [start, end] = age.range!
    const isPlain = age.type === 'PLAIN' && text.slice(start, end) === age.value
    if (isPlain) return { path: file, content: `${text.slice(0, end)},${recipient}${text.slice(end)}`, others }
    age.value = `${age.value.trimEnd().replace(/,$/, '')},${recipient}`
  } else if (age === undefined) holder.set('age', recipient)
  else throw unclearRecipients(file, line)
  return { path: file, content: document.toString({ lineWidth: 0 }), others }
}

/** The one key group that a rule has. */
function groupOf(rule: YAMLMap): YAMLMap | undefined {
  const groups = rule.get('key_groups')
  if (!isSeq(groups) || groups.items.length === 0) return rule
  const [group] = groups.items
  return isMap(group) ? group : undefined
}

function unclearRecipients(file: string, line: number): BailiwickError {
  return new BailiwickError('sops-config', `${file}: no place for another age recipient`, {
    fix: 'Write `age: age1...` in the rule, or a list of keys.',
    origin: { repository: '', file, line, column: 1 },
  })
}
