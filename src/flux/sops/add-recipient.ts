import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import type { Tree } from '../../git/tree.ts'
import { findCreationRule, type SealingRule, SOPS_CONFIG } from './creation-rule.ts'

const textOf = (tree: Tree, path: string) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(path))

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
