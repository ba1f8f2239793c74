import { message, part } from '../../base/message.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { kindsThat, OPERATOR_GROUP } from '../../kube/flux-kinds.ts'
import type { Node, Path } from '../../kube/node.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'

const KINDS = kindsThat(row => !row.hasNoInterval)
/** How often something is done again. */
const INTERVALS: readonly Path[] = [
  ['spec', 'interval'],
  ['spec', 'retryInterval'],
  ['spec', 'chart', 'spec', 'interval'],
  ['spec', 'install', 'strategy', 'retryInterval'],
  ['spec', 'upgrade', 'strategy', 'retryInterval'],
  ['metadata', 'annotations', `${OPERATOR_GROUP}/reconcileEvery`],
]
const TIMEOUTS: readonly Path[] = [
  ['spec', 'timeout'],
  ...['install', 'upgrade', 'rollback', 'uninstall', 'test'].map(step => ['spec', step, 'timeout']),
  ['metadata', 'annotations', `${OPERATOR_GROUP}/reconcileTimeout`],
]

/** Flux does not work without a pause. */
export const intervalLimits: Rule = {
  id: 'interval-limits',
  severity: 'medium',
  title: 'Invalid or too short interval',
  why: 'Each interval costs the controllers, the API server and the git host. An interval of milliseconds keeps a worker busy with one object. A controller that cannot decode an invalid duration stops.',
  source: 'CVE-2022-39272; Flux API, pattern of interval',
  docs: 'Write durations with the units h, m and s: `5m`, `1h30m`. An interval below `minimumInterval` in .github/bailiwick.yaml (default 30s) is a warning, one below 1s a violation. Use a Receiver for faster updates.',
  kinds: KINDS,
  *checkTenantObject(subject, context) {
    for (const path of INTERVALS) yield* evaluateFleet(subject, context, path, true)
    for (const path of TIMEOUTS) yield* evaluateFleet(subject, context, path, false)
  },
}

function* evaluateFleet(
  subject: Subject,
  { config }: RuleContext,
  path: Path,
  isInterval: boolean,
): Iterable<Violation> {
  const written = subject.at(path)
  const text = written && textOf(written)
  if (text === undefined || text.includes('${')) return
  const seconds = secondsOf(text)
  const field = path.join('.')
  if (seconds === undefined) {
    const problem = message`${subject.who}: ${part('field', field)} is ${quoted('value', text)}, which is not a duration. Allowed: durations such as 5m. Old Flux controllers stop at it.`
    yield subject.violation(path, text, {
      isMalformed: true,
      message: problem,
      fix: message`Set ${part('field', field)} to a duration, such as 5m.`,
    })
    return
  }
  if (!isInterval || seconds >= Math.max(config.minimumInterval, 1)) return
  const isTiny = seconds < 1
  yield subject.violation(path, text, {
    message: message`${subject.who}: ${part('field', field)} is ${quoted('value', text)}. Allowed: ${config.minimumInterval}s or more.`,
    fix: message`Set ${part('field', field)} to ${config.minimumInterval}s or more.`,
    edit: { set: `${Math.max(config.minimumInterval, 1)}s` },
    ...(isTiny ? {} : { level: 'warning' }),
  })
}

/** A value as written; undefined for none, or one that only the cluster has. */
function textOf(node: Node): string | undefined {
  if (node.type !== 'scalar') return node.type
  return node.value === null || node.opaque ? undefined : String(node.value)
}

const UNITS = { h: 3600, m: 60, s: 1, ms: 0.001 } as const
/** Nanoseconds of Go are an int64. */
const MOST = 2 ** 63 / 1e9

/**
 * Seconds of a duration as the API of Flux takes it; undefined where it refuses the text: a sign, another unit (`1d`), no
 * unit at all, more than the 292 years that Go can count.
 */
function secondsOf(text: string): number | undefined {
  if (text.length > 64 || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined
  let seconds = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    seconds += Number(number) * UNITS[unit as keyof typeof UNITS]
  }
  return seconds > MOST ? undefined : seconds
}
