import { display, type ObjectId } from '../kube/object.ts'
import { ClusterError, type Refusal } from './cluster-error.ts'
import { ADOPT, type Owner } from './ownership.ts'

/** As Flux names an object in its errors: `ConfigMap/apps/settings`. */
function fluxName({ kind, namespace, name }: ObjectId): string {
  return [kind, namespace, name].filter(part => part !== '').join('/')
}

interface Attempt {
  readonly id: ObjectId
  readonly owner: Owner
  readonly attempted: 'dry-run' | 'apply'
  /** Values in it are not to be quoted, as those of a Secret are not. */
  readonly isConfidential: boolean
}

/**
 * The API server's refusal of an object in the words of Flux (fluxcd/pkg ssa/errors), without values of what is confidential,
 * and with what to do about a conflict; any other error as it is.
 */
export function explainRefusal(error: unknown, { id, owner, attempted, isConfidential }: Attempt): unknown {
  if (!(error instanceof ClusterError) || error.status === 401) return error
  const { refusal } = error
  if ((id.kind === 'Secret' || isConfidential) && mayQuote(refusal)) return hidden(error, id)
  const conflicts = refusal.causes.filter(cause => cause.reason === 'FieldManagerConflict')
  if (conflicts.length > 0) {
    const fields = conflicts.map(({ field, message }) => `${field} (${message})`).join(', ')
    const message = `${display(id)} is not managed by Bailiwick, and other managers own ${fields}`
    const fix = `Leave these fields out, or let a person with access to the cluster annotate the object ${ADOPT}: ${owner.namespace}/${owner.name}.`
    return new ClusterError(error.code, message, refusal, { fix })
  }
  return new ClusterError(error.code, `${fluxName(id)} ${verdict(id, refusal, attempted)}: ${refusal.said}`, refusal)
}

/** `secrets "a" is forbidden: User "b" cannot patch resource "secrets" in API group "" in the namespace "c"`, and no more. */
const NO_RIGHT =
  /^\S+ "[^"]*" is forbidden: User "[^"]*" cannot [a-z]+ resource "[^"]*" in API group "[^"]*"(?: in the namespace "[^"]*"| at the cluster scope)?$/

/** Whether a refusal may quote what was sent: all but those of a known form, since webhooks and policies answer with any status and text. */
function mayQuote({ status, said, causes }: Refusal): boolean {
  if (status === 404) return false
  if (status === 403) return !NO_RIGHT.test(said) && !causes.some(cause => cause.reason === 'NamespaceTerminating')
  return status !== 409 || !causes.some(cause => cause.reason === 'FieldManagerConflict')
}

function verdict({ namespace }: ObjectId, { status, reason }: Refusal, attempted: Attempt['attempted']): string {
  if (attempted === 'apply') return 'apply failed'
  if (status === 404) return namespace === '' ? 'namespace not specified' : 'not found'
  return reason === '' ? 'dry-run failed' : `dry-run failed (${reason})`
}

function hidden({ code, refusal }: ClusterError, id: ObjectId): ClusterError {
  const fields = refusal.causes.map(cause => cause.field).filter(Boolean)
  const where = fields.length > 0 ? `, ${fields.join(', ')}` : ''
  const message = `the API server refuses ${display(id)} (status ${refusal.status}${where})`
  return new ClusterError(
    code,
    message,
    { ...refusal, said: '', causes: refusal.causes.map(({ reason, field }) => ({ reason, field, message: '' })) },
    {
      fix: 'The message is omitted because it may quote the value. Check the types of the fields.',
    },
  )
}
