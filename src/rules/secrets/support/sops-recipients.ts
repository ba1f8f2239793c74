import { at, itemsOf, type Node } from '../../../kube/node.ts'

/** Who can open what SOPS encrypted, as one text each: `age:age1...`, `pgp:...`, `kms:arn`, `hc_vault:url`. */
export type Recipients = ReadonlyMap<string, Node>

const text = (node: Node | undefined, ...names: string[]): string => {
  for (const name of names) {
    const found = at(node, [name])
    if (found?.type === 'scalar' && found.value !== null) return String(found.value).trim()
  }
  return ''
}
const noSlash = (url: string) => url.replace(/\/{1,8}$/, '')
const wordsOf = (node: Node | undefined): string[] => {
  const items = node?.type === 'list' ? node.items : node ? [node] : []
  return items.flatMap(item => (item.type === 'scalar' && item.value !== null ? String(item.value).split(',') : []))
}

const kms = (arn: string, role: string) => `kms:${arn}${role === '' ? '' : `+${role}`}`
const pgp = (fingerprint: string) => `pgp:${fingerprint.replace(/\s/g, '').toUpperCase()}`
const azure = (vault: string, name: string) => `azure_kv:${noSlash(vault)}/keys/${name}`
/** Any version of a key of Azure is the same key. */
const azureUrl = (url: string) => `azure_kv:${noSlash(url).replace(/(\/keys\/[^/]{1,200})\/[^/]{0,200}$/, '$1')}`
const vault = (address: string, engine: string, key: string) => `hc_vault:${noSlash(address)}/v1/${engine}/keys/${key}`

/** The recipients in the `sops` block of an encrypted document. */
export function recipientsOf(block: Node | undefined): Recipients {
  const found = new Map<string, Node>()
  const add = (recipient: string, node: Node) => {
    if (!found.has(recipient)) found.set(recipient, node)
  }
  const groups = [block, ...itemsOf(at(block, ['key_groups']))]
  for (const group of groups) {
    for (const one of itemsOf(at(group, ['age']))) add(`age:${text(one, 'recipient')}`, one)
    for (const one of itemsOf(at(group, ['pgp']))) add(pgp(text(one, 'fp')), one)
    for (const one of itemsOf(at(group, ['kms']))) add(kms(text(one, 'arn'), text(one, 'role')), one)
    for (const one of itemsOf(at(group, ['gcp_kms']))) add(`gcp_kms:${text(one, 'resource_id')}`, one)
    for (const one of itemsOf(at(group, ['hckms']))) add(`hckms:${text(one, 'key_id')}`, one)
    for (const one of itemsOf(at(group, ['azure_kv']))) {
      add(azure(text(one, 'vault_url', 'vaultUrl'), text(one, 'name', 'key')), one)
    }
    for (const one of itemsOf(at(group, ['hc_vault']))) {
      add(vault(text(one, 'vault_address'), text(one, 'engine_path'), text(one, 'key_name')), one)
    }
  }
  return found
}

/** The recipients that a creation rule of `.sops.yaml` asks for, those of its groups too (getsops/sops, config). */
export function wantedRecipients(rule: Node | undefined, depth = 0): Recipients {
  const found = new Map<string, Node>()
  const each = (name: string, form: (word: string) => string) => {
    const node = at(rule, [name])
    for (const word of wordsOf(node)) if (word.trim() !== '') found.set(form(word.trim()), node!)
  }
  each('age', word => `age:${word}`)
  each('pgp', pgp)
  each('kms', word => kms(...splitRole(word)))
  each('gcp_kms', word => `gcp_kms:${word}`)
  each('hckms', word => `hckms:${word}`)
  each('azure_keyvault', azureUrl)
  each('hc_vault_transit_uri', word => `hc_vault:${noSlash(word)}`)
  each('hc_vault', word => `hc_vault:${noSlash(word)}`)
  for (const [name, form] of IN_GROUPS) {
    for (const one of itemsOf(at(rule, [name]))) if (one.type === 'map') found.set(form(one), one)
  }
  if (depth < 8) {
    for (const list of ['key_groups', 'merge']) {
      for (const group of itemsOf(at(rule, [list]))) {
        for (const [recipient, node] of wantedRecipients(group, depth + 1)) found.set(recipient, node)
      }
    }
  }
  return found
}

const IN_GROUPS: readonly (readonly [string, (node: Node) => string])[] = [
  ['kms', node => kms(text(node, 'arn'), text(node, 'role'))],
  ['gcp_kms', node => `gcp_kms:${text(node, 'resource_id')}`],
  ['hckms', node => `hckms:${text(node, 'key_id')}`],
  ['azure_keyvault', node => azure(text(node, 'vaultUrl', 'vault_url'), text(node, 'key', 'name'))],
]

function splitRole(word: string): [arn: string, role: string] {
  const plus = word.indexOf('+')
  return plus < 0 ? [word, ''] : [word.slice(0, plus), word.slice(plus + 1)]
}
