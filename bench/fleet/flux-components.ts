const KINDS: readonly (readonly [group: string, kinds: readonly string[]])[] = [
  ['source.toolkit.fluxcd.io', ['GitRepository', 'OCIRepository', 'Bucket', 'HelmRepository', 'HelmChart']],
  ['kustomize.toolkit.fluxcd.io', ['Kustomization']],
  ['helm.toolkit.fluxcd.io', ['HelmRelease']],
  ['notification.toolkit.fluxcd.io', ['Alert', 'Provider', 'Receiver']],
]

/** As `flux install --export` writes it, as far as size goes: definitions with long schemas, and the controllers. */
export function fluxComponents(): string {
  const definitions = KINDS.flatMap(([group, kinds]) => kinds.map(kind => definition(group, kind)))
  const controllers = ['source', 'kustomize', 'helm', 'notification'].map(name => controller(`${name}-controller`))
  return [...definitions, ...controllers].join('---\n')
}

function definition(group: string, kind: string): string {
  const plural = kind.endsWith('y') ? `${kind.toLowerCase().slice(0, -1)}ies` : `${kind.toLowerCase()}s`
  const fields = Array.from(
    { length: 120 },
    (_, index) => `                  field${index}:
                    description: |-
                      What the controller does with field ${index}, told at the length that such
                      descriptions have.
                    type: ${index % 3 === 0 ? 'boolean' : 'string'}
`,
  )
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.${group}
  labels:
    app.kubernetes.io/part-of: flux
spec:
  group: ${group}
  names:
    kind: ${kind}
    listKind: ${kind}List
    plural: ${plural}
    singular: ${kind.toLowerCase()}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
${fields.join('')}`
}

const controller = (name: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: flux-system
  labels:
    app.kubernetes.io/part-of: flux
    control-plane: controller
spec:
  replicas: 1
  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}
    spec:
      containers:
        - name: manager
          image: ghcr.io/fluxcd/${name}:v1.7.0
          args:
            - --watch-all-namespaces=true
            - --log-level=info
      serviceAccountName: ${name}
`
