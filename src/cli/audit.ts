import { auditFleet } from '../audit/audit-fleet.ts'
import type { AuditItem, AuditState, ClusterAudit } from '../audit/audit-item.ts'
import { BailiwickError } from '../errors.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { visible } from '../message/visible.ts'
import { placeOf } from '../report/text/place.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import { parseOptions } from './parse-options.ts'
import { clustersOf, FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { table } from './table.ts'
import { wrap } from './wrap.ts'

const USAGE = 'audit [FLEET] [--cluster NAME] [--strict] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o text|json]'

/** `bailiwick audit`: what keeps the tenants of a cluster apart, and what does not. */
export const audit: Command = {
  name: 'audit',
  usage: `${USAGE}

  --cluster NAME only this cluster (default: all)
  --strict       exit code 1 if a setting is weak
${FLEET_HELP}
  -o text|json   text for people

Exit code 0: done; 1: a setting is weak, with --strict; 2: a Kustomization of the platform could not be read.`,
  async run(args, io) {
    const strict = args.includes('--strict')
    const options = parseOptions(
      args.filter(arg => arg !== '--strict'),
      ['cluster', ...FLEET_OPTIONS, 'output'],
      USAGE,
    )
    const [fleetDir = '.', more] = options.positionals
    const output = options.one('output') ?? 'text'
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra FLEET`)
    if (output !== 'text' && output !== 'json')
      throw usage(`-o ${JSON.stringify(output)} is not a format. Allowed: text, json`)
    const { fleet, here } = await readFleet(options, fleetDir, io.cwd)
    const asked = clustersOf(fleet, options.one('cluster'), USAGE)
    const failed = fleet.nodes.filter(node => whyIncomplete(node) && !node.tenant && asked.includes(node.cluster))
    for (const node of failed) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    const found = auditFleet(fleet, asked)
    io.stdout(output === 'json' ? json(found) : found.map(one => text(one, here)).join('\n'))
    if (failed.length > 0) return 2
    return strict && found.some(one => countOf(one, 'weak') > 0) ? 1 : 0
  },
}

const TITLES = ['STATE', 'CHECK', 'FOUND']

function text(found: ClusterAudit, here: string): string {
  const { cluster, path, items } = found
  const rows = weakFirst(items).flatMap(item => {
    const place = placeOfItem(item, here)
    const row = [item.state, item.check, item.message].map(cell => visible(cell, 300))
    // on a line of its own: editors and terminals open a path only if it is whole
    return place ? [row, ['', '', visible(place, 300)]] : [row]
  })
  const advice = items.filter(({ state }) => state !== 'ok')
  const counts = (['ok', 'weak', 'unknown'] as const).map(state => `${countOf(found, state)} ${state}`).join(', ')
  const lines = [
    visible(`${cluster} (${path}): ${counts}`),
    '',
    ...table(TITLES, rows),
    ...(advice.length > 0 ? ['', 'What to do', ...unique(advice.map(adviceText))] : []),
  ]
  return `${lines.join('\n')}\n`
}

/** The advice for one item, in several lines. */
function adviceText({ check, why, fix }: AuditItem): string {
  const [first, ...more] = wrap(visible(`${check}: ${why}.${fix ? ` ${fix}` : ''}`, 600), 96)
  return [`  ${first}`, ...more.map(line => `    ${line}`)].join('\n')
}

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

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${USAGE}` })
}
