import { type Document, isMap, isScalar, isSeq, parseDocument, stringify, type YAMLMap, type YAMLSeq } from 'yaml'

/** Renames a tenant in the fleet's own file; returns the same text if the file does not name it. */
export function renamedTenant(text: string, from: string, to: string): string {
  const tenants: unknown = parseDocument(text).get('tenants')
  const entry = isSeq(tenants) ? entryOf(tenants, from) : undefined
  const name = entry?.get('name', true)
  if (!isScalar(name) || !name.range) return text
  const [start, end] = name.range
  return `${text.slice(0, start)}${stringify(to).trimEnd()}${text.slice(end)}`
}

/** Moves a namespace to another tenant in the fleet's own file; returns the same text if no tenant has it. */
export function givenNamespace(text: string, namespace: string, to: string): string {
  return edited(text, (document, tenants) => {
    const from = tenants.items.filter(isMap).find(entry => namespacesOf(entry)?.toJSON().includes(namespace))
    const list = from && namespacesOf(from)
    if (!from || !list) return false
    list.items = list.items.filter(item => String(item) !== namespace)
    if (list.items.length === 0) from.delete('namespaces')
    const entry = entryOf(tenants, to)
    const own = entry && namespacesOf(entry)
    if (own) own.add(document.createNode(namespace))
    else if (entry) entry.set('namespaces', document.createNode([namespace]))
    else tenants.add(document.createNode({ name: to, namespaces: [namespace] }))
    return true
  })
}

function edited(text: string, edit: (document: Document, tenants: YAMLSeq) => boolean): string {
  const document = parseDocument(text)
  const tenants: unknown = document.get('tenants')
  if (document.errors.length > 0 || !isSeq(tenants) || !edit(document, tenants)) return text
  return document.toString({ lineWidth: 0, flowCollectionPadding: text.includes('[ ') })
}

const entryOf = (tenants: YAMLSeq, name: string): YAMLMap | undefined =>
  tenants.items.filter(isMap).find(entry => entry.get('name') === name)

function namespacesOf(entry: YAMLMap): YAMLSeq | undefined {
  const list: unknown = entry.get('namespaces')
  return isSeq(list) ? list : undefined
}
