import type { Json } from '../../../../src/kube/node.ts'
import { seeded } from '../../../base/kube/rbac/random-world.ts'

type Fields = { [key: string]: Json }

export const NAMESPACES: readonly Fields[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps', labels: { env: 'prod', tier: 'a' } } },
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'other', labels: { env: 'dev' }, annotations: { owner: 'ops' } },
  },
]
export const USERS = [
  'system:serviceaccount:apps:dev',
  'system:serviceaccount:other:dev',
  'system:serviceaccount:apps:ci',
]

/** What the API server and we are asked: an apply, or a deletion, by an account. */
export interface Question {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly object: Fields
  readonly old?: Fields
  readonly user: string
}

/** Draws policies and questions; the same seed draws the same. */
export class Draw {
  readonly #next: () => number
  constructor(seed: number) {
    this.#next = seeded(seed)
  }

  one<T>(items: readonly T[]): T {
    return items[Math.floor(this.#next() * items.length)]!
  }

  some<T>(items: readonly T[]): T[] {
    const kept = items.filter(() => this.#next() < 0.5)
    return kept.length > 0 ? kept : [this.one(items)]
  }

  chance(share: number): boolean {
    return this.#next() < share
  }

  /** A policy and its binding. */
  policy(name: string): Fields[] {
    const variables = this.chance(0.4)
      ? [
          { name: 'named', expression: this.one(TEXTS) },
          { name: 'both', expression: 'variables.named + "-x"' },
        ]
      : []
    const expression = () =>
      variables.length > 0 && this.chance(0.4)
        ? this.one([
            'variables.both.size() > 5',
            "variables.named.startsWith('a') || true",
            "variables.both == 'web-x'",
          ])
        : this.expression(2)
    const usesParams = this.chance(0.2)
    const spec: Fields = {
      failurePolicy: this.one(['Fail', 'Fail', 'Ignore']),
      ...(usesParams ? { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } : {}),
      matchConstraints: this.match(true),
      ...(this.chance(0.4) ? { matchConditions: [{ name: 'a', expression: this.expression(1) }] } : {}),
      variables,
      validations: [
        { expression: usesParams ? `params.data.limit != 'x' && (${expression()})` : expression(), message: 'no' },
        ...(this.chance(0.3) ? [{ expression: expression(), messageExpression: "'name ' + request.name" }] : []),
      ],
    }
    const paramRef = {
      ...this.one<Fields>([{ name: 'params' }, { selector: { matchLabels: { params: 'yes' } } }]),
      namespace: 'apps',
      parameterNotFoundAction: this.one(['Allow', 'Deny']),
    }
    const kind = 'ValidatingAdmissionPolicy'
    const apiVersion = 'admissionregistration.k8s.io/v1'
    return [
      { apiVersion, kind, metadata: { name }, spec },
      {
        apiVersion,
        kind: `${kind}Binding`,
        metadata: { name: `b-${name}` },
        spec: {
          policyName: name,
          validationActions: ['Warn'],
          ...(usesParams ? { paramRef } : {}),
          ...(this.chance(0.3) ? { matchResources: this.match(this.chance(0.5)) } : {}),
        },
      },
    ]
  }

  match(hasRules: boolean): Fields {
    const rule = () => {
      const [groups, resources] = this.one<readonly [string[], string[]]>([
        [[''], this.some(['configmaps', 'services', 'secrets', 'pods'])],
        [['apps'], ['deployments']],
        [['apps', ''], ['*']],
        [['*'], ['*/*']],
        [['rbac.authorization.k8s.io'], ['roles', 'clusterroles']],
        [[''], ['namespaces']],
      ])
      return {
        apiGroups: groups,
        apiVersions: this.one([['v1'], ['*']]),
        operations: this.one([['CREATE'], ['UPDATE'], ['CREATE', 'UPDATE'], ['*'], ['DELETE']]),
        resources,
        ...(this.chance(0.2) ? { scope: this.one(['*', 'Namespaced', 'Cluster']) } : {}),
        ...(this.chance(0.1) ? { resourceNames: ['web', 'a'] } : {}),
      }
    }
    const selector = () =>
      this.one<Fields>([
        { matchLabels: { env: 'prod' } },
        { matchExpressions: [{ key: 'env', operator: 'In', values: ['dev', 'prod'] }] },
        { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
        { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['other'] }] },
      ])
    return {
      matchPolicy: this.one(['Exact', 'Equivalent']),
      ...(hasRules ? { resourceRules: this.chance(0.2) ? [rule(), rule()] : [rule()] } : {}),
      ...(this.chance(0.15) ? { excludeResourceRules: [rule()] } : {}),
      ...(this.chance(0.3) ? { namespaceSelector: selector() } : {}),
      ...(this.chance(0.2) ? { objectSelector: selector() } : {}),
    }
  }

  /** A boolean expression. */
  expression(depth: number): string {
    if (depth > 0 && this.chance(0.5)) {
      const [a, b] = [this.expression(depth - 1), this.expression(depth - 1)]
      return this.one([`(${a}) && (${b})`, `(${a}) || (${b})`, `!(${a})`, `(${a}) ? (${b}) : false`])
    }
    return this.chance(0.3) ? `${this.one(TEXTS)} ${this.one(['==', '!=', '<'])} ${this.one(TEXTS)}` : this.one(ATOMS)
  }

  question(): Question {
    const operation = this.one<Question['operation']>(['CREATE', 'CREATE', 'UPDATE', 'DELETE'])
    const object = this.object()
    const user = this.one(USERS)
    if (operation !== 'UPDATE') return { operation, object, user }
    const old = this.object(object)
    return { operation, object, old, user }
  }

  /** An object; another state of `same`. */
  object(same?: Fields): Fields {
    const kind = same
      ? String(same.kind)
      : this.one([
          'ConfigMap',
          'ConfigMap',
          'Service',
          'Secret',
          'Deployment',
          'Role',
          'ClusterRole',
          'Pod',
          'Namespace',
        ])
    const known = same?.metadata as Fields | undefined
    const isClusterWide = kind === 'ClusterRole' || kind === 'Namespace'
    const labels = this.chance(0.6)
      ? { labels: { env: this.one(['prod', 'dev']), ...(this.chance(0.3) ? { tier: 'b' } : {}) } }
      : {}
    const metadata: Fields = {
      name: known?.name ?? this.one(['web', 'a', 'b-1', 'long-name']),
      ...(isClusterWide ? {} : { namespace: known?.namespace ?? this.one(['apps', 'other']) }),
      ...labels,
      ...(this.chance(0.3) ? { annotations: { note: this.one(['x', '5', 'https://a.example:80/b']) } } : {}),
    }
    const image = this.one(['nginx', 'ghcr.io/acme/web:1.2', 'busybox:latest', `a@sha256:${'a'.repeat(64)}`])
    const container: Fields = {
      name: 'web',
      image,
      ...(this.chance(0.4) ? { resources: { limits: { memory: this.one(['1Gi', '512Mi']) } } } : {}),
      ...(this.chance(0.4) ? { ports: [{ containerPort: this.one([80, 8080]) }] } : {}),
      ...(this.chance(0.4) ? { securityContext: { runAsNonRoot: this.chance(0.5) } } : {}),
    }
    const pod = { containers: [container], ...(this.chance(0.3) ? { hostNetwork: this.chance(0.5) } : {}) }
    const body: Readonly<Record<string, () => Fields>> = {
      ConfigMap: () => ({ data: { level: this.one(['low', 'high']), limit: this.one(['10', 'x']) } }),
      Secret: () => ({ stringData: { a: this.one(['x', 'y']) } }),
      Service: () => ({ spec: { type: this.one(['ClusterIP', 'NodePort']), ports: [{ port: this.one([80, 443]) }] } }),
      Deployment: () => ({
        spec: {
          ...(this.chance(0.5) ? { replicas: this.one([1, 3, 5]) } : {}),
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: pod },
        },
      }),
      Pod: () => ({ spec: pod }),
      Role: () => ({ rules: [{ apiGroups: [''], resources: [this.one(['configmaps', 'services'])], verbs: ['get'] }] }),
      Namespace: () => ({}),
      ClusterRole: () => ({ rules: [{ apiGroups: [''], resources: ['nodes'], verbs: [this.one(['get', 'list'])] }] }),
    }
    const isPod = same !== undefined && kind === 'Pod'
    const apiVersion =
      { Deployment: 'apps/v1', Role: 'rbac.authorization.k8s.io/v1', ClusterRole: 'rbac.authorization.k8s.io/v1' }[
        kind
      ] ?? 'v1'
    // nearly everything of a Pod stays as it is
    return isPod ? { ...same, metadata } : { apiVersion, kind, metadata, ...body[kind]!() }
  }
}

const TEXTS = [
  'object.metadata.name',
  'request.name',
  'request.namespace',
  'request.userInfo.username',
  'request.operation',
  'object.metadata.labels.env',
  "object.metadata.?labels.?env.orValue('none')",
  'object.data.level',
  'oldObject.metadata.name',
  'string(request.userInfo.groups.size())',
  'object.kind.lowerAscii()',
  "namespaceObject.metadata.labels['env']",
  "object.metadata.annotations['note']",
  'request.kind.kind',
  'request.resource.resource',
  "'web'",
]

const ATOMS = [
  'has(object.metadata.labels)',
  'has(object.metadata.labels.env) && object.metadata.labels.env == "prod"',
  'object == null',
  'oldObject == null',
  'object != oldObject',
  'object.spec.replicas <= 3',
  'has(object.spec.replicas)',
  "object.spec.template.spec.containers.all(c, c.image.startsWith('ghcr.io/'))",
  "object.spec.containers.exists(c, c.image.endsWith(':latest'))",
  "object.spec.template.spec.containers.all(c, has(c.resources.limits) && quantity(c.resources.limits.memory).isLessThan(quantity('1Gi')))",
  "object.spec.template.spec.containers[0].imagePullPolicy == 'Always'",
  "object.spec.template.spec.restartPolicy == 'Always'",
  "object.spec.strategy.rollingUpdate.maxSurge == '25%'",
  'object.spec.template.spec.?securityContext.?runAsNonRoot.orValue(false)',
  "object.spec.ports.all(p, p.protocol == 'TCP' && p.port == p.targetPort)",
  "object.spec.type == 'ClusterIP'",
  "object.spec.sessionAffinity == 'None'",
  'object.data.size() < 3',
  "object.data.all(k, v, k != 'limit' || v.matches('^[0-9]+$'))",
  'object.data.transformList(k, v, v).sort().size() < 5',
  "'a' in object.data",
  "object.data['a'] == 'eA=='",
  "object.type == 'Opaque'",
  "object.rules.all(r, r.verbs.all(v, v in ['get', 'list']))",
  'object.rules.map(r, r.resources).flatten().distinct().size() == 1',
  "'system:serviceaccounts:apps' in request.userInfo.groups",
  "authorizer.group('').resource('secrets').namespace('apps').check('create').allowed()",
  "authorizer.group('').resource('configmaps').namespace(request.namespace).name('web').check('update').allowed()",
  "authorizer.requestResource.check('delete').allowed()",
  "authorizer.path('/healthz').check('get').allowed()",
  "authorizer.serviceAccount('apps', 'ci').group('apps').resource('deployments').namespace('apps').check('patch').allowed()",
  'namespaceObject.metadata.name == request.namespace',
  'has(namespaceObject.metadata.annotations)',
  'namespaceObject == null',
  'request.dryRun || true',
  "request.subResource == ''",
  'has(request.namespace)',
  "isURL(object.metadata.annotations['note']) && url(object.metadata.annotations['note']).getPort() == '80'",
  'format.dns1123Label().validate(object.metadata.name).hasValue()',
  "object.metadata.name.find('[a-z]+') == object.metadata.name",
  'int(object.metadata.annotations.note) > 3',
  "semver('1.2.3').isLessThan(semver('2.0.0'))",
  "cidr('10.0.0.0/8').containsIP('10.1.1.1')",
  "object.apiVersion == 'v1'",
  'type(object.metadata.name) == string',
  '1 / 0 == 1',
  '[1, 2, 3].exists(i, i / (i - 1) > 2)',
]
