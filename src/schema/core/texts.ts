import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { oncePerText } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { containsPattern, type StepBudget } from '../../expr/regexp/pattern.ts'
import type { MapNode } from '../../kube/node.ts'
import { badValue, mapIn, type Problem, textIn } from './problem.ts'

/** A text format: whether a text has it, and the description for messages. */
interface TextForm {
  fits(text: string): boolean
  readonly allowed: string
}

const LABEL = /^[a-z\d](?:[-a-z\d]*[a-z\d])?$/
const SUBDOMAIN = /^[a-z\d](?:[-a-z\d]*[a-z\d])?(?:\.[a-z\d](?:[-a-z\d]*[a-z\d])?)*$/
const DNS_1035 = /^[a-z](?:[-a-z\d]*[a-z\d])?$/
const NAME_PART = /^[A-Za-z\d](?:[-A-Za-z\d_.]*[A-Za-z\d])?$/
const MAX_LABEL = 63
const MAX_SUBDOMAIN = 253
const MAX_PORT_NAME = 15

const isLabel = (text: string): boolean => text.length <= MAX_LABEL && LABEL.test(text)
const isSubdomain = (text: string): boolean => text.length <= MAX_SUBDOMAIN && SUBDOMAIN.test(text)

/** A label or annotation key. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/')
  if (slash < 0) return text.length <= MAX_LABEL && NAME_PART.test(text)
  const name = text.slice(slash + 1)
  // a second slash is not allowed in a name
  return name.length <= MAX_LABEL && NAME_PART.test(name) && isSubdomain(text.slice(0, slash))
}

const isLabelValue = (text: string): boolean => text === '' || (text.length <= MAX_LABEL && NAME_PART.test(text))

/** A container port name. */
const isPortName = (text: string): boolean =>
  text.length <= MAX_PORT_NAME && LABEL.test(text) && /[a-z]/.test(text) && !text.includes('--')

const isConfigMapKey = (text: string): boolean =>
  text.length <= MAX_SUBDOMAIN && /^[-._A-Za-z\d]+$/.test(text) && text !== '.' && !text.startsWith('..')

const isPathSegment = (text: string): boolean => text !== '' && text !== '.' && text !== '..' && !/[/%]/.test(text)

/** A relative path that does not leave its folder. */
const isRelativePath = (text: string): boolean => !text.startsWith('/') && !text.split('/').includes('..')

const withoutWildcard = (text: string): string => (text.startsWith('*.') ? text.slice(2) : text)

/** Text formats by name: k8s.io/apimachinery, pkg/util/validation and pkg/api/validation. */
export const FORMS = {
  label: { fits: isLabel, allowed: 'a DNS label: at most 63 lowercase letters, digits and -' },
  subdomain: { fits: isSubdomain, allowed: 'a DNS subdomain: at most 253 lowercase letters, digits, - and .' },
  'service-name': {
    fits: text => text.length <= MAX_LABEL && DNS_1035.test(text),
    allowed: 'a DNS label that begins with a letter: at most 63 lowercase letters, digits and -',
  },
  'path-segment': { fits: isPathSegment, allowed: 'a name without / and %' },
  qualified: {
    fits: isQualifiedName,
    allowed: 'a name of at most 63 letters, digits, -, _ and ., with or without a DNS subdomain and / before it',
  },
  'label-value': { fits: isLabelValue, allowed: 'at most 63 letters, digits, -, _ and .' },
  'port-name': {
    fits: isPortName,
    allowed: 'at most 15 lowercase letters, digits and -, with at least one letter',
  },
  'env-name': {
    fits: text => /^[ -<>-~]+$/.test(text),
    allowed: 'printable ASCII characters without =',
  },
  'map-key': { fits: isConfigMapKey, allowed: 'at most 253 letters, digits, -, _ and .' },
  'relative-path': { fits: isRelativePath, allowed: 'a relative path without ..' },
  'no-backsteps': { fits: text => !text.split('/').includes('..'), allowed: 'a path without ..' },
  'absolute-path': { fits: text => text.startsWith('/'), allowed: 'a path that begins with /' },
  'not-empty': { fits: text => text !== '', allowed: 'a text that is not empty' },
  trimmed: { fits: text => text.trim() === text, allowed: 'a text without spaces around it' },
  ip: { fits: text => isIP(text), allowed: 'an IP address' },
  'cluster-ip': { fits: text => text === 'None' || isIP(text), allowed: 'an IP address, or None' },
  'external-name': {
    fits: text => isSubdomain(text.replace(/\.$/, '')),
    allowed: 'a DNS name of lowercase letters, digits, - and .',
  },
  'ingress-host': {
    fits: text => isSubdomain(withoutWildcard(text)) && !isIP(text),
    allowed: 'a DNS name, with or without *. before it; no IP address',
  },
  cron: {
    fits: text => cronProblem(text) === undefined,
    allowed: 'five fields of cron such as "0 3 * * *", or @hourly, @daily, @weekly, @monthly, @yearly, @every 1h',
  },
  controller: {
    fits: text => text.length <= 250 && /^[^/]+\/.+$/.test(text) && isSubdomain(text.slice(0, text.indexOf('/'))),
    allowed: 'a DNS subdomain, / and a path, at most 250 characters',
  },
  'webhook-name': {
    fits: text => isSubdomain(text) && text.split('.').length >= 3,
    allowed: 'a DNS name of at least three parts',
  },
} as const satisfies Record<string, TextForm>

export type FormName = keyof typeof FORMS

const BYTE = /^(?:25[0-5]|2[0-4]\d|1?\d?\d)$/
const MAX_LENGTH = 60

const isIPv4 = (text: string): boolean => {
  const parts = text.split('.')
  return parts.length === 4 && parts.every(part => BYTE.test(part))
}

function isIPv6(text: string): boolean {
  const [head = '', tail, more] = text.split('::')
  if (more !== undefined) return false
  const groups = [head, tail ?? ''].flatMap(part => (part === '' ? [] : part.split(':')))
  const last = groups.at(-1)
  const isMixed = last?.includes('.') === true
  if (isMixed && !isIPv4(last!)) return false
  const count = groups.length + (isMixed ? 1 : 0)
  const hex = isMixed ? groups.slice(0, -1) : groups
  return hex.every(group => /^[\da-fA-F]{1,4}$/.test(group)) && (tail === undefined ? count === 8 : count < 8)
}

/** Whether a text is an IP address without a zone (k8s.io/utils/net, ParseIPSloppy; leading zeros are left to the API server). */
export const isIP = (text: string): boolean =>
  text.length <= MAX_LENGTH &&
  (isIPv4(text.replaceAll(/(^|\.)0+(?=\d)/g, '$1')) || (text.includes(':') && isIPv6(text)))

/** Whether a text is an IP address with a prefix length. */
export function isCidr(text: string): boolean {
  const [address = '', bits = '', more] = text.length > MAX_LENGTH ? [] : text.split('/')
  if (more !== undefined || !/^\d{1,3}$/.test(bits) || !isIP(address)) return false
  return Number(bits) <= (address.includes(':') ? 128 : 32)
}

/** A field of a cron schedule: its bounds and the names of its values. */
interface CronField {
  readonly name: string
  readonly least: number
  readonly most: number
  readonly words: readonly string[]
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'sun mon tue wed thu fri sat'.split(' ')
const FIELDS: readonly CronField[] = [
  { name: 'minute', least: 0, most: 59, words: [] },
  { name: 'hour', least: 0, most: 23, words: [] },
  { name: 'day of the month', least: 1, most: 31, words: [] },
  { name: 'month', least: 1, most: 12, words: MONTHS },
  { name: 'day of the week', least: 0, most: 6, words: DAYS },
]
const NAMED = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])
const EVERY = /^@every [+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/
const MAX_CRON_LENGTH = 1000

/** The problem of a CronJob's schedule according to its parser (github.com/robfig/cron, ParseStandard). */
function cronProblem(text: string): string | undefined {
  if (text.length > MAX_CRON_LENGTH) return 'it is too long'
  if (/^(?:CRON_)?TZ=/.test(text)) return 'it names a time zone'
  if (text.startsWith('@')) return NAMED.has(text) || EVERY.test(text) ? undefined : 'it is no descriptor'
  const fields = text.trim().split(/\s+/)
  if (fields.length !== FIELDS.length) return 'it has not five fields'
  return FIELDS.find((field, index) => !fields[index]!.split(',').every(part => isRange(part, field)))?.name
}

function isRange(text: string, field: CronField): boolean {
  // the parser skips empty parts of a list
  if (text === '') return true
  const [range = '', step, more] = text.split('/')
  if (more !== undefined || (step !== undefined && !(numberOf(step, [])! > 0))) return false
  const [from = '', to, rest] = range.split('-')
  if (rest !== undefined) return false
  if (from === '*' || from === '?') return to === undefined
  const start = numberOf(from, field.words, field.least)
  const end = to === undefined ? start : numberOf(to, field.words, field.least)
  if (start === undefined || end === undefined) return false
  return field.least <= start && start <= end && end <= field.most
}

function numberOf(text: string, words: readonly string[], first = 0): number | undefined {
  const index = words.indexOf(text.toLowerCase())
  if (index >= 0) return index + first
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Of one text; patterns and texts of ecosystem projects need some thousands. */
const MAX_STEPS = 1_000_000
/** Answers that are kept for one pattern: most texts stand in many objects. */
const KEPT = 1_000

const NOWHERE: Origin = { repository: '', file: '', line: 1, column: 1 }
const answers = oncePerText(KEPT, pattern => oncePerText(KEPT, text => ask(pattern, text)))

/** Whether a part of a text matches a pattern as Go matches it; undefined if not known. */
export const matchesText = (pattern: string, text: string): boolean | undefined => answers(pattern)(text)

function ask(pattern: string, text: string): boolean | undefined {
  let left = MAX_STEPS
  const budget: StepBudget = {
    spend(_what, amount) {
      left -= amount
      if (left < 0) throw new BailiwickError('render-limits', 'the pattern needs too many steps')
    },
  }
  return unlessRefused(undefined, () => containsPattern({ text: pattern, origin: NOWHERE }, text, budget))
}

const SEGMENT: FormName = 'path-segment'
const RBAC = 'rbac.authorization.k8s.io/v1'

/** Name formats of kinds where they are not DNS subdomains: Validate*Name of k8s.io/kubernetes, pkg/apis. */
const NAMES: ReadonlyMap<string, readonly [apiVersion: string, form: FormName]> = new Map<
  string,
  readonly [string, FormName]
>([
  ['Namespace', ['v1', 'label']],
  ['StatefulSet', ['apps/v1', 'label']],
  ['Role', [RBAC, SEGMENT]],
  ['ClusterRole', [RBAC, SEGMENT]],
  ['RoleBinding', [RBAC, SEGMENT]],
  ['ClusterRoleBinding', [RBAC, SEGMENT]],
  ['PodDisruptionBudget', ['policy/v1', SEGMENT]],
  ['APIService', ['apiregistration.k8s.io/v1', SEGMENT]],
  ['CertificateSigningRequest', ['certificates.k8s.io/v1', SEGMENT]],
])

/** Since 1.36 the name of a Service need not start with a letter. */
const RELAXED_SERVICE = 36

/** A CronJob appends eleven characters to the names of its Jobs. */
const LONGEST_CRON_JOB = 52

/** The name format of a built-in kind in a minor version; other kinds use DNS subdomains. */
export function nameForm(apiVersion: string, kind: string, version: number): FormName {
  if (kind === 'Service' && apiVersion === 'v1') return version >= RELAXED_SERVICE ? 'label' : 'service-name'
  const named = NAMES.get(kind)
  if (named !== undefined && named[0] === apiVersion) return named[1]
  return kind.endsWith('List') || apiVersion.startsWith('internal.') ? SEGMENT : 'subdomain'
}

/** The maximum length of a name, where it is below the limit of its format. */
export const longestName = (apiVersion: string, kind: string): number =>
  apiVersion === 'batch/v1' && kind === 'CronJob' ? LONGEST_CRON_JOB : Infinity

/** The problem of an object's name; a missing name is left to kustomize. */
export function nameProblem(root: MapNode, form: FormName, longest = Infinity): Problem | undefined {
  const name = textIn(mapIn(root, 'metadata'), 'name')
  if (name === undefined || name === '') return undefined
  const path = ['metadata', 'name']
  if (!FORMS[form].fits(name)) return badValue(path, FORMS[form].allowed, 'a name of another form')
  return name.length > longest ? badValue(path, `at most ${longest} characters`, 'a longer name') : undefined
}
