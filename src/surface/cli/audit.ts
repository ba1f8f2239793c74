import { firstNames } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { type Fleet, whyIncomplete } from '../../fleet/model/fleet.ts'
import { placeOf } from '../../report/text/place.ts'
import { auditFleet } from '../../verdict/audit/audit-fleet.ts'
import type { AuditItem, AuditState, ClusterAudit } from '../../verdict/audit/audit-item.ts'
import { MAX_LINES, VERBOSE } from './check-options.ts'
import type { Command } from './command.ts'
import { FLEET, fleetPart, PART, readFleet } from './read-fleet.ts'
import { errorLine, printLines, type TableRow, table } from './terminal.ts'
import { TEXT_OR_JSON } from './usage.ts'

/** `bailiwick audit`: what keeps the tenants of a cluster apart, and what does not. */
export const audit: Command = {
  name: 'audit',
  usage: [...PART, ['[--strict]', 'exit code 1 if a setting is weak'], VERBOSE, ...FLEET, TEXT_OR_JSON],
  notes:
    'Exit code 0: done; 1: a setting is weak, with --strict; 2: a Kustomization of the platform could not be read.',
  async run(given, io) {
    const { fleet, here } = await readFleet(given, io.cwd)
    const part = fleetPart(fleet, given)
    const failed = fleet.nodes.filter(
      node => whyIncomplete(node) && !node.tenant && part.clusters.includes(node.cluster),
    )
    for (const node of failed) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    const found = ofTenants(fleet, part.tenants, auditFleet(fleet, part.clusters, part.tenants))
    if (given.format === 'json') io.stdout(json(found))
    else {
      // a pipe or a log can be searched
      const isShort = io.isTerminal === true && !given.has('verbose')
      const all = [...found.flatMap(one => [...lines(one, here, isShort, io.columns), '']), ...adviceOf(found)]
      printLines(io, [...(isShort ? cut(all) : all), ...(part.leftOut.length > 0 ? ['', ...part.leftOut] : [])])
    }
    if (failed.length > 0) return 2
    return given.has('strict') && found.some(one => countOf(one, 'weak') > 0) ? 1 : 0
  },
}

/** Leaves out settings of other tenants' namespaces. Settings of the whole cluster concern every tenant. */
function ofTenants(fleet: Fleet, tenants: ReadonlySet<string> | undefined, all: readonly ClusterAudit[]) {
  if (!tenants) return all
  const index = new FleetIndex(fleet)
  return all.map(one => {
    const ownerOf = ({ subject }: AuditItem) => index.ownerOf(one.cluster, subject.split('/', 1)[0] ?? '')
    return { ...one, items: one.items.filter(item => tenants.has(ownerOf(item) ?? [...tenants][0]!)) }
  })
}

const TITLES = ['STATE', 'CHECK', 'FOUND']

/** `isShort`: without the rows about which there is nothing to do. */
function lines(found: ClusterAudit, here: string, isShort: boolean, width = 100): string[] {
  const { cluster, path, items } = found
  const listed = isShort ? items.filter(({ state }) => state !== 'ok') : items
  const rows = alike(weakFirst(listed)).flatMap(([item, ...others]): TableRow[] => {
    const place = placeOfItem(item, here)
    const row = [item.state, item.check, `${tenantsText([item, ...others])}${item.message}`]
    const cells = row.map(cell => visible(cell, 400))
    // on a line of its own: editors and terminals open a path only if it is whole
    return place ? [cells, visible(place, 300)] : [cells]
  })
  const counts = (['ok', 'weak', 'unknown'] as const).map(state => `${countOf(found, state)} ${state}`).join(', ')
  return [visible(`${cluster} (${path}): ${counts}`), ...(rows.length > 0 ? ['', ...table(TITLES, rows, width)] : [])]
}

/** What to do, once for all clusters: that of the weak settings first. */
function adviceOf(found: readonly ClusterAudit[]): string[] {
  const advice = weakFirst(found.flatMap(({ items }) => items)).filter(({ state }) => state !== 'ok')
  return advice.length > 0 ? ['What to do', ...unique(advice.map(adviceText))] : []
}

const LESS = 'Settings that are ok are not listed: --verbose shows everything.'

/** The first lines for a person at a terminal, and what is not shown. */
function cut(all: readonly string[]): string[] {
  const left = all.length - MAX_LINES
  if (left <= 0) return [...all, '', LESS]
  return [...all.slice(0, MAX_LINES), '', `${left} more lines. --verbose shows everything, --cluster C one cluster.`]
}

/** Tenants of which each has a row of its own. */
const FEW_TENANTS = 3

/** Items of one check for many tenants, with the same state and remedy, are one row. */
function alike(items: readonly AuditItem[]): [AuditItem, ...AuditItem[]][] {
  const groups = [
    ...Map.groupBy(items, ({ tenant, state, check, fix }) =>
      JSON.stringify([tenant === undefined || tenant === '', state, check, fix]),
    ).values(),
  ]
  return groups.flatMap(group =>
    group.length > FEW_TENANTS && group[0]!.tenant
      ? [group as [AuditItem, ...AuditItem[]]]
      : group.map((one): [AuditItem] => [one]),
  )
}

function tenantsText(items: readonly AuditItem[]): string {
  if (items.length === 1) return ''
  const names = new Set(items.map(({ tenant = '' }) => tenant))
  return `${names.size} tenants (${firstNames([...names], FEW_TENANTS)}; -o json lists all), such as: `
}

const adviceText = ({ check, why, fix }: AuditItem) => `  ${visible(`${check}: ${why}.${fix ? ` ${fix}` : ''}`, 1000)}`

const STATES: readonly AuditState[] = ['weak', 'unknown', 'ok']
const weakFirst = (items: readonly AuditItem[]) => STATES.flatMap(state => items.filter(item => item.state === state))
const unique = (lines: readonly string[]) => [...new Set(lines)]
const placeOfItem = ({ origin }: AuditItem, here: string) => (origin ? placeOf(origin, here) : '')
const countOf = ({ items }: ClusterAudit, state: AuditState) => items.filter(item => item.state === state).length

function json(found: readonly ClusterAudit[]): string {
  const clusters = found.map(one => ({
    ...one,
    summary: { ok: countOf(one, 'ok'), weak: countOf(one, 'weak'), unknown: countOf(one, 'unknown') },
  }))
  return `${JSON.stringify({ clusters }, null, 2)}\n`
}
