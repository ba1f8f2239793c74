const CONTROLLERS = [
  'source-controller',
  'kustomize-controller',
  'helm-controller',
  'notification-controller',
  'image-reflector-controller',
  'image-automation-controller',
]

const deployment = (name: string) => `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: flux-system
  labels:
    app.kubernetes.io/part-of: flux
    control-plane: controller
spec:
  template:
    spec:
      containers:
      - name: manager
        args:
        - --log-level=info
`

/** The least that Flux installs: what patches of an installation write their flags to. */
export const BOOTSTRAP_COMPONENTS = CONTROLLERS.map(deployment).join('')

/** The Kustomization that an installation of Flux follows. */
export const bootstrapSync = (path: string): string => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  path: ${JSON.stringify(path)}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`
