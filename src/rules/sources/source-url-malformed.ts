import { objectPart, quoted } from '../../facts/shown.ts'
import { addressOf, noPort, sourceKinds } from '../../facts/source-fields.ts'
import type { Subject } from '../../facts/subject.ts'
import { idOf } from '../../kube/object.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { scalarsOf } from '../secrets/support/scalars-of.ts'

const POLICIES = ['kyverno.io/ClusterPolicy', 'kyverno.io/Policy']

/** The address of a source has one meaning, whoever reads it. */
export const sourceUrlMalformed: Rule = {
  id: 'source-url-malformed',
  severity: 'high',
  title: 'Malformed source address',
  why: 'Programs disagree about a user before the host, dot segments, encoded slashes, backslashes and empty path segments. An address that matches an allowlist can then lead to another repository.',
  source: 'RFC 3986, sections 3.2.1 and 6.2.2; kyverno/policies flux/verify-git-repositories',
  docs: 'Write `https://<host>/<path>`, `ssh://git@<host>/<path>` or `oci://<host>/<path>` in ASCII, without a user or password (use `spec.secretRef`), `..`, `%2f`, `//` or a query. The scp form behind `ssh://` (`ssh://git@<host>:<path>`) is not an address for Flux; a pattern of a Kyverno policy in this form is a warning.',
  kinds: [...sourceKinds, ...POLICIES],
  *checkObject(subject, { index }) {
    const { object, id, kind, node } = subject
    if (POLICIES.includes(kind)) yield* hopelessPatterns(subject)
    const found = addressOf(kind, object)
    if (!found || typeof found.address !== 'string') return
    // what Flux cannot read at all is wrong wherever it stands
    if (index.actsFor(node, object) === undefined && !noPort(found.written)) return
    const what = withoutUser(found.written)
    yield {
      node,
      object,
      path: found.path,
      value: what,
      message: message`${objectPart(id.kind, id.namespace, idOf(object).name)} follows an address that ${untyped(found.address)}: ${quoted('repository', what)}. Allowed: a plain https, ssh or oci address. git or an HTTP client can interpret it as another address.`,
      fix: message`Replace it with the plain address of the repository.`,
    }
  },
}

/** Patterns of a policy that match no address which Flux can read: what is written to allow a source refuses it. */
function* hopelessPatterns({ object, id, node }: Subject): Iterable<Violation> {
  for (const { path, node: scalar } of scalarsOf(object.root)) {
    const patterns = String(scalar.value)
      .split('|')
      .map(one => one.trim())
    const pattern = path.at(-1) === 'url' ? patterns.find(noPort) : undefined
    if (pattern === undefined) continue
    yield {
      node,
      object,
      path,
      value: pattern,
      message: message`${objectPart(id.kind, id.namespace, id.name)} has the pattern ${quoted('value', pattern)}, which can never match: an address of this form ${untyped(noPort(pattern)!)}. Allowed: \`ssh://git@<host>/<path>\`.`,
      fix: message`Write a slash behind the host.`,
      level: 'warning',
    }
  }
}

/** What stands before the last @ of the authority may be a password. */
function withoutUser(written: string): string {
  const start = written.indexOf('://') + 3
  const end = written.slice(start).search(/[/?#]/)
  const mark = written.slice(0, end < 0 ? undefined : start + end).lastIndexOf('@')
  return start > 2 && mark >= start ? `${written.slice(0, start)}...${written.slice(mark)}` : written
}
