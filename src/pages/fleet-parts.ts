import type { AccessView } from '../access/access-overview.ts'
import type { FleetPage } from '../report/page/fleet-page.ts'
import { type PackedParts, packParts } from './packed-parts.ts'

/** What a view of a fleet's page may do without, or reads alone: these fields are parts of their own. */
const LISTS = ['tenants', 'sources', 'notSeen', 'findings', 'graph', 'audit', 'policies', 'commits'] as const

const DETAILS = ['changers', 'others', 'unknown', 'left'] as const

/** Packs the page of a fleet in parts: one for each long list, and one for each namespace of the access explorer. */
export function packFleet(page: FleetPage): Promise<Buffer | undefined> {
  return packParts(partsOf(page))
}

function* partsOf(page: FleetPage): Generator<readonly [string, unknown]> {
  const { access, ...rest } = page
  const { namespaces, left } = access
  const lists = LISTS.filter(name => rest[name] !== undefined)
  const front = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !(lists as readonly string[]).includes(name)),
  )
  const names = namespaces.map(({ cluster, namespace, tenant }) => ({ cluster, namespace, tenant }))
  yield ['front', { front, lists, left, names }]
  for (const name of lists) yield [name, rest[name]]
  for (const [at, view] of namespaces.entries())
    yield [`access ${at}`, Object.fromEntries(DETAILS.map(name => [name, view[name]]))]
}

interface Front {
  readonly front: object
  readonly lists: readonly (typeof LISTS)[number][]
  readonly left: number
  readonly names: readonly Pick<AccessView, 'cluster' | 'namespace' | 'tenant'>[]
}

/** The page of which the parts were packed; each is parsed when it is first looked at. */
export function openFleet({ read }: PackedParts): FleetPage {
  const { front, lists, left, names } = read('front') as Front
  const namespaces = names.map((name, at) => lazily(name, DETAILS, field => detail(read(`access ${at}`), field)))
  const page: unknown = lazily({ ...front, access: { namespaces, left } }, lists, read)
  return page as FleetPage
}

const detail = (view: unknown, field: (typeof DETAILS)[number]): unknown => (view as AccessView)[field]

/** The object with more fields, whose values are asked for when they are read. */
function lazily<T extends object, N extends string>(known: T, names: readonly N[], value: (name: N) => unknown) {
  const fields = names.map(name => [name, { enumerable: true, get: () => value(name) }] as const)
  return Object.defineProperties({ ...known }, Object.fromEntries(fields)) as T & Record<N, unknown>
}
