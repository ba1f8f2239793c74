import type { FunctionTable } from '../function-library.ts'
import { readTimestamp } from '../times.ts'
import { LibraryValue, Optional } from '../values.ts'
import { parseUrl } from './parse-url.ts'

/** A named format; `problems` are the API server's words about a text, none where it fits. */
class Format extends LibraryValue {
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly problems: (text: string) => readonly string[]
  constructor(name: string, problems: (text: string) => readonly string[]) {
    super()
    this.name = name
    this.problems = problems
  }
  equals(other: LibraryValue): boolean {
    return other instanceof Format && other.name === this.name
  }
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const DATE = /^\d{4}-\d{2}-\d{2}$/

const matching = (pattern: RegExp, most: number, words: string) => (text: string) => [
  ...(text.length > most ? [`must be no more than ${most} characters`] : []),
  ...(pattern.test(text.slice(0, 1_000)) ? [] : [words]),
]
const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const LABEL_1035_WORDS =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const NAME_WORDS =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/** A prefix may end with a dash. */
const prefix = (problems: (text: string) => readonly string[]) => (text: string) =>
  problems(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text)

const FORMATS: Readonly<Record<string, (text: string) => readonly string[]>> = {
  dns1123Label: matching(LABEL, 63, LABEL_WORDS),
  dns1123Subdomain: matching(SUBDOMAIN, 253, SUBDOMAIN_WORDS),
  dns1035Label: matching(LABEL_1035, 63, LABEL_1035_WORDS),
  dns1123LabelPrefix: prefix(matching(LABEL, 63, LABEL_WORDS)),
  dns1123SubdomainPrefix: prefix(matching(SUBDOMAIN, 253, SUBDOMAIN_WORDS)),
  dns1035LabelPrefix: prefix(matching(LABEL_1035, 63, LABEL_1035_WORDS)),
  qualifiedName,
  labelValue: matching(VALUE, 63, VALUE_WORDS),
  uri: text => (parseUrl(text) ? [] : ['does not match the URI format']),
  uuid: text => (UUID.test(text) ? [] : ['does not match the UUID format']),
  byte: text => (text !== '' && BASE64.test(text) ? [] : ['invalid base64']),
  date: text => (DATE.test(text) && readTimestamp(`${text}T00:00:00Z`) !== undefined ? [] : ['invalid date']),
  datetime: text => (readTimestamp(text.toUpperCase()) !== undefined ? [] : ['invalid datetime']),
}

/** Named formats (k8s.io/apiserver pkg/cel/library/format.go). */
export const FORMAT_FUNCTIONS: FunctionTable = {
  functions: {
    ...Object.fromEntries(
      Object.entries(FORMATS).map(([name, problems]) => [`format.${name}`, () => new Format(name, problems)]),
    ),
    'format.named': ([name]) => {
      if (typeof name !== 'string') return undefined
      return new Optional(Object.hasOwn(FORMATS, name) ? new Format(name, FORMATS[name]!) : undefined)
    },
  },
  methods: {
    validate: ([format, text]) => {
      if (!(format instanceof Format) || typeof text !== 'string') return undefined
      const problems = format.problems(text)
      return new Optional(problems.length > 0 ? problems : undefined)
    },
  },
}

function qualifiedName(text: string): string[] {
  const parts = text.split('/')
  const name = parts.at(-1)!
  const problems: string[] = []
  if (parts.length > 2)
    return [`a qualified name ${NAME_WORDS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  if (parts.length === 2) {
    if (parts[0] === '') problems.push('prefix part must be non-empty')
    else problems.push(...FORMATS.dns1123Subdomain!(parts[0]!).map(one => `prefix part ${one}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (name.length > 63) problems.push('name part must be no more than 63 characters')
  if (!NAME_PART.test(name.slice(0, 1_000))) problems.push(`name part ${NAME_WORDS}`)
  return problems
}
