import { isNamespaceName, isSubdomain } from '../../kube/object.ts'
import { type AccessRequest, type UserInfo, userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { CelError, CelUnknownError } from '../expression.ts'
import { type CelValue, type FunctionTable, LibraryValue } from '../values.ts'

/** The answer of a cluster's RBAC; `unknown`: why it is not known. */
export type Authorize = (
  user: UserInfo,
  request: AccessRequest,
) => { readonly allowed: boolean; readonly reason: string; readonly unknown?: string }

abstract class Access extends LibraryValue {
  equals(other: LibraryValue): boolean {
    return this === other
  }
}

/** `authorizer`: asks for one user. */
export class CelAuthorizer extends Access {
  readonly typeName = 'kubernetes.authorization.Authorizer'
  readonly user: UserInfo
  readonly authorize: Authorize
  readonly #request: ResourceRequested | undefined
  /** `request`: what `requestResource` asks about. */
  constructor(user: UserInfo, authorize: Authorize, request?: ResourceRequested) {
    super()
    this.user = user
    this.authorize = authorize
    this.#request = request
  }
  override field(name: string): CelValue | undefined {
    return name === 'requestResource' && this.#request ? new ResourceCheck(this, this.#request) : undefined
  }
}

class GroupCheck extends Access {
  readonly typeName = 'kubernetes.authorization.GroupCheck'
  readonly by: CelAuthorizer
  readonly group: string
  constructor(by: CelAuthorizer, group: string) {
    super()
    this.by = by
    this.group = group
  }
}

class PathCheck extends Access {
  readonly typeName = 'kubernetes.authorization.PathCheck'
  readonly by: CelAuthorizer
  readonly path: string
  constructor(by: CelAuthorizer, path: string) {
    super()
    this.by = by
    this.path = path
  }
}

interface ResourceRequested {
  readonly apiGroup: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

class ResourceCheck extends Access {
  readonly typeName = 'kubernetes.authorization.ResourceCheck'
  readonly by: CelAuthorizer
  readonly asked: ResourceRequested
  constructor(by: CelAuthorizer, asked: ResourceRequested) {
    super()
    this.by = by
    this.asked = asked
  }
}

class Decision extends Access {
  readonly typeName = 'kubernetes.authorization.Decision'
  readonly allowed: boolean
  readonly reason: string
  constructor(allowed: boolean, reason: string) {
    super()
    this.allowed = allowed
    this.reason = reason
  }
}

/** Questions to the authorizer (k8s.io/apiserver pkg/cel/library/authz.go). */
export const AUTHORIZER: FunctionTable = {
  methods: {
    path: ([by, path]) => {
      if (!(by instanceof CelAuthorizer) || typeof path !== 'string') return undefined
      return new PathCheck(by, filled(path, 'path'))
    },
    group: ([by, group]) =>
      by instanceof CelAuthorizer && typeof group === 'string' ? new GroupCheck(by, group) : undefined,
    serviceAccount: ([by, namespace, name]) => {
      if (!(by instanceof CelAuthorizer) || typeof namespace !== 'string' || typeof name !== 'string') return undefined
      if (!isSubdomain(name)) throw new CelError('Invalid service account name')
      if (!isNamespaceName(namespace)) throw new CelError('Invalid service account namespace')
      return new CelAuthorizer(userInfo(userOfAccount(namespace, name)), by.authorize)
    },
    resource: ([check, resource]) => {
      if (!(check instanceof GroupCheck) || typeof resource !== 'string') return undefined
      return new ResourceCheck(check.by, { apiGroup: check.group, resource: filled(resource, 'resource') })
    },
    subresource: ([check, subresource]) => narrowed(check, subresource, 'subresource'),
    namespace: ([check, namespace]) => narrowed(check, namespace, 'namespace'),
    name: ([check, name]) => narrowed(check, name, 'name'),
    // RBAC does not look at selectors
    fieldSelector: ([check, selector]) =>
      check instanceof ResourceCheck && typeof selector === 'string' ? check : undefined,
    labelSelector: ([check, selector]) =>
      check instanceof ResourceCheck && typeof selector === 'string' ? check : undefined,
    check: ([check, verb], spend) => {
      if (typeof verb !== 'string') return undefined
      // as the API server counts one
      spend(1_000)
      if (check instanceof PathCheck) return decide(check.by, { verb, nonResourceURL: check.path })
      return check instanceof ResourceCheck ? decide(check.by, { ...check.asked, verb }) : undefined
    },
    allowed: ([decision]) => (decision instanceof Decision ? decision.allowed : undefined),
    reason: ([decision]) => (decision instanceof Decision ? decision.reason : undefined),
    errored: ([decision]) => (decision instanceof Decision ? false : undefined),
    error: ([decision]) => (decision instanceof Decision ? '' : undefined),
  },
}

function filled(text: string, what: string): string {
  if (text.trim() === '') throw new CelError(`${what} must not be empty`)
  return text
}

function narrowed(check: CelValue | undefined, text: CelValue | undefined, part: keyof ResourceRequested) {
  if (!(check instanceof ResourceCheck) || typeof text !== 'string') return undefined
  return new ResourceCheck(check.by, { ...check.asked, [part]: text })
}

function decide({ user, authorize }: CelAuthorizer, request: AccessRequest): Decision {
  const { allowed, reason, unknown } = authorize(user, request)
  if (unknown !== undefined) throw new CelUnknownError(unknown)
  return new Decision(allowed, reason)
}
