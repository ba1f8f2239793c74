import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Node } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { message, plainText } from '../../message/message.ts'
import { fixOf } from '../../message/said.ts'
import type { Origin, SourceLine } from '../../origin.ts'
import type { Finding } from '../../rules/model/finding.ts'

const SHARED = message` This line also changes what another tenant gets, so make the change in an overlay of this tenant alone.`

/**
 * Findings without the edits of lines that another tenant gets, too, unless the same edit fixes a finding of that tenant: a base of
 * two tenants is not changed for one of them. Their fix says so. Only new findings are looked at, as no other edit is offered.
 */
export function withoutSharedEdits(findings: readonly Finding[], fleet: Fleet): readonly Finding[] {
  const offered = findings.filter(({ edit, state, origin }) => edit && state === 'new' && origin.file !== '')
  if (offered.length === 0) return findings
  const owners = new Map(fleet.clusters.map(({ name, owners }) => [name, owners]))
  const tenantOf = (cluster: string, tenant: string, namespace: string) =>
    tenant || (owners.get(cluster)?.get(namespace) ?? '')
  const places = Map.groupBy(offered, ({ origin }) => placeOf(origin))
  const files = new Set(offered.map(({ origin }) => fileOf(origin)))
  const reached = new Map([...places.keys()].map(place => [place, new Set<string>()]))
  const documents = new Map<string, Map<number, Set<string>>>()
  for (const { cluster, tenant = '', objects } of fleet.nodes) {
    for (const object of objects) {
      if (![...filesOf(object)].some(file => files.has(file))) continue
      const owner = tenantOf(cluster, tenant, idOf(object).namespace)
      for (const origin of originsIn(object.root)) reached.get(placeOf(origin))?.add(owner)
      const { line } = object.root.origin
      // a patch may have written over the line, and still needs it
      const starts = documents.get(fileOf(object.root.origin)) ?? new Map<number, Set<string>>()
      documents.set(fileOf(object.root.origin), starts.set(line, (starts.get(line) ?? new Set()).add(owner)))
    }
  }
  const isShared = (one: Finding) => {
    const place = placeOf(one.origin)
    const edit = JSON.stringify(one.edit)
    const same = places.get(place)!.filter(other => JSON.stringify(other.edit) === edit)
    const starts = documents.get(fileOf(one.origin)) ?? new Map<number, ReadonlySet<string>>()
    const start = Math.max(...[...starts.keys()].filter(line => line <= one.origin.line))
    const readers = [...reached.get(place)!, ...(starts.get(start) ?? [])]
    const fixed = new Set(same.map(({ cluster, tenant, object }) => tenantOf(cluster, tenant, object.namespace)))
    return readers.some(tenant => !fixed.has(tenant))
  }
  const shared = new Set(offered.filter(isShared))
  return shared.size === 0 ? findings : findings.map(one => (shared.has(one) ? withoutEdit(one) : one))
}

function withoutEdit({ edit: _edit, allowed: _allowed, ...finding }: Finding): Finding {
  const saidFix = message`${fixOf(finding)}${SHARED}`
  return { ...finding, fix: plainText(saidFix), saidFix }
}

const placeOf = ({ repository, file, line }: SourceLine) => `${repository}\0${file}\0${line}`
const fileOf = ({ repository, file }: SourceLine) => `${repository}\0${file}`

// objects outlive a verdict, and most verdicts look for other files than they come from
const known = new WeakMap<KubeObject, ReadonlySet<string>>()

function filesOf(object: KubeObject): ReadonlySet<string> {
  const before = known.get(object)
  if (before) return before
  const files = new Set<string>()
  for (const origin of originsIn(object.root)) files.add(fileOf(origin))
  known.set(object, files)
  return files
}

function* originsIn(node: Node): Generator<Origin> {
  yield node.origin
  if (node.type === 'list') for (const item of node.items) yield* originsIn(item)
  if (node.type !== 'map') return
  for (const { key, value } of node.fields.values()) {
    yield key
    yield* originsIn(value)
  }
}
