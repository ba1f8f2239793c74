import { display, type ObjectId } from '../kube/object.ts'
import { ClusterError, type Refusal } from './cluster-error.ts'
import { ADOPT, type Owner } from './ownership.ts'

type Attempted = 'dry-run' | 'apply'

/** As Flux names an object in its errors: `ConfigMap/apps/settings`. */
function fluxName({ kind, namespace, name }: ObjectId): string {
  return [kind, namespace, name].filter(part => part !== '').join('/')
}

/**
 * The API server's refusal of an object in the words of Flux (fluxcd/pkg ssa/errors), without values of a Secret, and with
 * what to do about a conflict; any other error as it is.
 */
export function explainRefusal(error: unknown, id: ObjectId, owner: Owner, attempted: Attempted): unknown {
  if (!(error instanceof ClusterError) || error.status === 401) return error
  const { refusal } = error
  if (id.kind === 'Secret' && ![403, 404, 409].includes(error.status)) return hidden(error, id)
  const conflicts = refusal.causes.filter(cause => cause.reason === 'FieldManagerConflict')
  if (conflicts.length > 0) {
    const fields = conflicts.map(({ field, message }) => `${field} (${message})`).join(', ')
    const message = `${display(id)} is not managed by Bailiwick, and other managers own ${fields}`
    const fix = `Leave these fields out, or let a person with access to the cluster annotate the object ${ADOPT}: ${owner.namespace}/${owner.name}.`
    return new ClusterError(error.code, message, refusal, { fix })
  }
  return new ClusterError(error.code, `${fluxName(id)} ${verdict(id, refusal, attempted)}: ${refusal.said}`, refusal)
}

function verdict({ namespace }: ObjectId, { status, reason }: Refusal, attempted: Attempted): string {
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
    { ...refusal, said: '', causes: [] },
    {
      fix: 'The message is omitted because it may quote the value. Check the types of the fields.',
    },
  )
}
