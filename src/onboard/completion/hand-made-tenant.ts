import { GIT_REPOSITORY, KUSTOMIZATION, OCI_REPOSITORY, TENANT_LABEL_KEY } from '../../flux/kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { checkedBranch, checkedName, checkedUrl } from '../checked-names.ts'
import type { OnboardRequest, TenantRole } from '../request.ts'
import type { FleetCustoms } from './fleet-customs.ts'
import type { TenantPiece } from './read-pieces.ts'

/** A tenant as somebody began to write it, and as it would be complete. */
export interface HandMadeTenant {
  /** What its own objects and the fleet say. */
  readonly request: OnboardRequest
  /** Objects of `request` that are written already, as `<Kind> <namespace>/<name>` (see pieceName). */
  readonly has: ReadonlySet<string>
  /** Name of the Secret that its source reads and that no file has; undefined: none is missing. */
  readonly secret: string | undefined
}

/** A DNS subdomain. */
const SECRET_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/
const RBAC = 'rbac.authorization.k8s.io'

/**
 * What the objects in the folder of a tenant agree on; undefined where they contradict each other or leave something open that
 * the fleet does not show either. Throws `onboard-input` for names that a tenant may not have.
 */
export function handMadeTenant(
  folder: string,
  objects: readonly TenantPiece[],
  customs: FleetCustoms,
): HandMadeTenant | undefined {
  const of = (kind: string) => objects.filter(one => `${one.group}/${one.kind}` === kind)
  const [sources, syncs] = [[...of(GIT_REPOSITORY), ...of(OCI_REPOSITORY)], of(KUSTOMIZATION)]
  const [spaces, accounts, bindings] = [of('/Namespace'), of('/ServiceAccount'), of(`${RBAC}/RoleBinding`)]
  if ([sources, syncs, spaces, accounts, bindings].some(list => list.length > 1)) return undefined
  const [source, sync, space, account, binding] = [sources[0], syncs[0], spaces[0], accounts[0], bindings[0]]
  const known = [source, sync, space, account, binding].filter(one => one !== undefined)
  if (known.length === 0) return undefined
  const labels = known.flatMap(({ root }) => stringAt(root, ['metadata', 'labels', TENANT_LABEL_KEY]) ?? [])
  const namespaces = new Set([
    ...(space ? [space.name] : []),
    ...known.filter(one => one !== space).map(one => one.namespace),
  ])
  const [namespace, other] = namespaces
  const sourceName = sync && stringAt(sync.root, ['spec', 'sourceRef', 'name'])
  const names = [folder, ...labels, ...[source?.name, sync?.name, sourceName].filter(one => one !== undefined)]
  const user = accountIn([account?.name, sync && stringAt(sync.root, ['spec', 'serviceAccountName'])], folder)
  if (namespace === undefined || namespace === '' || other !== undefined) return undefined
  if (new Set(names).size !== 1 || user === undefined) return undefined
  if (binding && !bindsAccount(binding, namespace, user)) return undefined
  const address = source ? addressOf(source) : addressFrom(sync, folder, customs)
  if (!address) return undefined
  const request: OnboardRequest = {
    tenant: checkedName(folder, 'tenant'),
    url: checkedUrl(address.url),
    branch: checkedBranch(address.branch),
    namespaces: [checkedName(namespace, 'namespace')],
    clusters: [],
    account: checkedName(user, 'account'),
    role: roleFrom(customs.role),
  }
  const secret = source && stringAt(source.root, ['spec', 'secretRef', 'name'])
  if (secret !== undefined && !SECRET_NAME.test(secret)) return undefined
  const isKept = secret === undefined || of('/Secret').some(({ name }) => name === secret)
  return {
    request,
    has: new Set(known.map(pieceName)),
    secret: isKept || !customs.keepsSecrets ? undefined : secret,
  }
}

/** What a piece is called to people; bindings have names of people's own choice. */
export function pieceName({ kind, namespace, name }: Pick<TenantPiece, 'kind' | 'namespace' | 'name'>): string {
  if (kind === 'RoleBinding') return `RoleBinding in ${namespace}`
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
}

/** The account that all of them name; the folder's name where none does. */
function accountIn(names: readonly (string | undefined)[], folder: string): string | undefined {
  const [name, other] = new Set(names.filter(one => one !== undefined))
  return other === undefined ? (name ?? folder) : undefined
}

function bindsAccount({ root }: TenantPiece, namespace: string, account: string): boolean {
  const subjects = at(root, ['subjects'])
  return (
    subjects?.type === 'list' &&
    subjects.items.some(
      one =>
        stringAt(one, ['kind']) === 'ServiceAccount' &&
        stringAt(one, ['name']) === account &&
        stringAt(one, ['namespace']) === namespace,
    )
  )
}

interface Address {
  readonly url: string
  readonly branch: string
}

/** Of an artifact, only the kind counts here: what its source says is not written again. */
function addressOf({ root, kind }: TenantPiece): Address | undefined {
  const url = stringAt(root, ['spec', 'url'])
  if (url === undefined) return undefined
  const branch = stringAt(root, ['spec', 'ref', 'branch']) ?? 'main'
  return kind === 'OCIRepository' && !url.startsWith('oci://') ? undefined : { url, branch }
}

/** A source that nobody wrote: as all tenants of the fleet have it, if the Kustomization wants a git repository. */
function addressFrom(sync: TenantPiece | undefined, tenant: string, customs: FleetCustoms): Address | undefined {
  const url = customs.urlOf(tenant)
  const kind = sync && stringAt(sync.root, ['spec', 'sourceRef', 'kind'])
  if (url === undefined || customs.branch === undefined || url.startsWith('oci://')) return undefined
  return kind === undefined || kind === 'GitRepository' ? { url, branch: customs.branch } : undefined
}

/** Never cluster-admin because others have it: `edit` is enough for workloads. */
function roleFrom(role: string | undefined): TenantRole {
  return role === 'admin' ? 'admin' : 'edit'
}
