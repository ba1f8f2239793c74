import type { Change } from './cases.ts'

/** Rows of quotas, limits, owners, ports and images. */
export const QUOTA_CHANGES: readonly Change[] = [
  ['a limit of another kind', 'LimitRange', 'type: Container', 'type: Deployment', 'not-allowed spec.limits.0.type'],
  ['a limit of a kind with a domain', 'LimitRange', 'type: Container', 'type: example.com/a', ''],
  [
    'an owner without an uid',
    'ConfigMap',
    'labels: {app: x}',
    'ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: ""}]',
    'missing-field metadata.ownerReferences.0.uid',
  ],
  [
    'a set with null',
    'ConfigMap',
    'labels: {app: x}',
    'finalizers: [a.example.com/b, null]',
    'wrong-type metadata.finalizers.1',
  ],
  [
    'a Pod security level of null',
    'Namespace',
    'labels: {app: x}',
    'labels: {pod-security.kubernetes.io/enforce: null}',
    'not-allowed metadata.labels.pod-security.kubernetes.io/enforce',
  ],
  [
    'an unknown version of a field path',
    'Pod',
    'valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}',
    'valueFrom: {fieldRef: {apiVersion: v2, fieldPath: metadata.name}}',
    'not-allowed spec.containers.0.env.1.valueFrom.fieldRef.apiVersion',
  ],
  [
    'a port of an Ingress in capitals',
    'Ingress',
    'port: {number: 80}',
    'port: {name: HTTP}',
    'bad-format spec.rules.0.http.paths.0.backend.service.port.name',
  ],
  ['a space behind an image', 'Pod', 'image: nginx:1', 'image: "nginx:1 "', 'bad-format spec.containers.0.image'],
  ['a space behind an image of a template', 'Deployment', 'image: nginx:1', 'image: "nginx:1 "', ''],
  [
    'a quota of another resource',
    'ResourceQuota',
    'requests.cpu: 2',
    'requests.apples: 2',
    'bad-format spec.hard.requests.apples',
  ],
  ['a quota of counted objects', 'ResourceQuota', 'requests.cpu: 2', 'count/deployments.apps: 2', ''],
  ['a quota of half a Pod', 'ResourceQuota', 'pods: "10"', 'pods: 500m', 'bad-format spec.hard.pods'],
  ['a quota of whole Pods in thousandths', 'ResourceQuota', 'pods: "10"', 'pods: 2000m', ''],
  ['a negative quota', 'ResourceQuota', 'requests.cpu: 2', 'requests.cpu: -2', 'bad-format spec.hard.requests.cpu'],
  [
    'a quota of huge pages',
    'ResourceQuota',
    'requests.cpu: 2}, scopes: [NotTerminating]',
    'requests.hugepages-2Mi: 2Mi}',
    '',
  ],
]
