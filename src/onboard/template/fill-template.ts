import { type Document, isMap, isScalar, LineCounter, parseAllDocuments, Scalar, visit } from 'yaml'
import { BailiwickError } from '../../errors.ts'
import { type CustomScopes, scopeOf } from '../../kube/scope/scope.ts'
import { NAMESPACE_VARIABLE, type TemplateTenant, withNames } from './with-names.ts'

/** Words that YAML 1.1 does not take for text. */
const WORDS: ReadonlySet<string> = new Set(['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'])

/** A file of a template; `path` is for errors. */
interface TemplateFile {
  readonly path: string
  readonly text: string
}

/**
 * The objects of a template file for a tenant, once for each of its namespaces. `${TENANT}`, `${NAMESPACE}`, `${ACCOUNT}` and
 * `${TEAM}` are replaced in texts, never in structure: a name that YAML reads as a number stays text. Throws `onboard-layout` for
 * an object that does not belong in a namespace of the tenant.
 */
export function fillTemplate(file: TemplateFile, tenant: TemplateTenant, scopes: CustomScopes): string {
  const counter = new LineCounter()
  const documents = [...parseAllDocuments(file.text, { lineCounter: counter })].filter(one => one.contents !== null)
  for (const document of documents) {
    const line = counter.linePos(document.contents?.range?.[0] ?? 0).line
    checkObject(document, { ...file, line }, scopes)
  }
  return tenant.namespaces
    .flatMap(namespace => documents.map(document => filled(document, { ...file, line: 1 }, tenant, namespace)))
    .map(text => `---\n${text}`)
    .join('')
}

type Place = TemplateFile & { readonly line: number }

function checkObject(document: Document, place: Place, scopes: CustomScopes): void {
  const [error] = document.errors
  if (error) throw refused({ ...place, line: error.linePos?.[0].line ?? 1 }, 'is not valid YAML', 'Correct it.')
  const [apiVersion, kind] = [document.get('apiVersion'), document.get('kind')]
  if (!isMap(document.contents) || typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw refused(place, 'is not a Kubernetes object', 'Give each object an apiVersion and a kind.')
  }
  const scope = scopeOf(apiVersion, kind, scopes)
  const namespace = document.getIn(['metadata', 'namespace'])
  if (scope === 'Cluster') {
    throw refused(place, `${kind} belongs to the whole cluster`, 'Keep only objects of namespaces in the template.')
  }
  if (namespace !== undefined && namespace !== NAMESPACE_VARIABLE) {
    throw refused(place, 'metadata.namespace is another namespace', `Write \`namespace: ${NAMESPACE_VARIABLE}\`.`)
  }
  if (namespace === undefined && scope === undefined) {
    throw refused(place, `it is not known whether ${kind} belongs in a namespace`, WRITE_NAMESPACE)
  }
  if (typeof document.getIn(['metadata', 'name']) !== 'string') {
    throw refused(place, 'metadata.name is missing', 'Give each object a name.')
  }
}

const WRITE_NAMESPACE = `If it does, write \`namespace: ${NAMESPACE_VARIABLE}\`.`

function filled(document: Document, place: Place, tenant: TemplateTenant, namespace: string): string {
  const copy = document.clone()
  copy.setIn(['metadata', 'namespace'], copy.createNode(NAMESPACE_VARIABLE))
  visit(copy, {
    Scalar(_key, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return
      const { text, missing } = withNames(node.value, tenant, namespace)
      if (missing !== undefined) {
        throw refused(place, `uses ${missing}, and the request names no team`, 'Add `--team ORGANIZATION/TEAM`.')
      }
      if (text === node.value) return
      node.value = text
      const isPlain = node.type === undefined || node.type === Scalar.PLAIN
      if (isPlain && !isText(text)) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return copy.toString({ lineWidth: 0, directives: false })
}

const isText = (value: string) => /^[a-z]/.test(value) && !WORDS.has(value)

function refused({ path, line }: Place, what: string, fix: string): BailiwickError {
  const origin = { repository: '', file: path, line, column: 1 }
  return new BailiwickError('onboard-layout', `${path}: ${what}`, { fix, origin })
}
