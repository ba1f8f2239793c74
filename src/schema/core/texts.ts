import { isIP } from './addresses.ts'
import { cronProblem } from './cron.ts'

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
