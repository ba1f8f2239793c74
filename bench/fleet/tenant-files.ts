import { CLUSTERS, KUSTOMIZATION } from './platform-files.ts'

/** The repository of one tenant: a base of what tenants have most of, and an overlay for each cluster. */
export function tenantFiles(tenant: string): Map<string, string> {
  const files = new Map<string, string>([
    [
      'base/kustomization.yaml',
      `${KUSTOMIZATION}resources:\n  - web.yaml\n  - policy.yaml\n  - release.yaml\nconfigMapGenerator:\n  - name: settings\n    literals:\n      - LOG_LEVEL=info\n      - TENANT=${tenant}\n`,
    ],
    ['base/web.yaml', web(tenant)],
    ['base/policy.yaml', POLICY],
    ['base/release.yaml', release(tenant)],
  ])
  for (const [index, cluster] of CLUSTERS.entries()) {
    files.set(
      `${cluster}/kustomization.yaml`,
      `${KUSTOMIZATION}namespace: ${tenant}\nresources:\n  - ../base\nlabels:\n  - pairs:\n      stage: ${cluster}\nimages:\n  - name: ghcr.io/acme/web\n    newTag: 1.${index}.0\npatches:\n  - path: replicas.yaml\n  - path: values.yaml\n`,
    )
    files.set(
      `${cluster}/replicas.yaml`,
      `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: ${index + 2}\n`,
    )
    files.set(`${cluster}/values.yaml`, values(index))
  }
  return files
}

const web = (tenant: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
spec:
  replicas: 1
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      automountServiceAccountToken: false
      securityContext:
        runAsNonRoot: true
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: web
          image: ghcr.io/acme/web:1.0.0
          securityContext:
            allowPrivilegeEscalation: false
            capabilities:
              drop: [ALL]
          ports:
            - name: http
              containerPort: 8080
          env:
            - name: TENANT
              value: ${tenant}
          envFrom:
            - configMapRef:
                name: settings
          resources:
            requests:
              cpu: 100m
              memory: 64Mi
            limits:
              memory: 128Mi
---
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
    - name: http
      port: 80
      targetPort: http
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: web
  minReplicas: 2
  maxReplicas: 10
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: 80
`

const POLICY = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: web
spec:
  podSelector:
    matchLabels:
      app: web
  policyTypes:
    - Ingress
  ingress:
    - ports:
        - port: http
`

const release = (tenant: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: charts
spec:
  interval: 5m
  url: https://charts.acme.example/stable
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cache
spec:
  serviceAccountName: ${tenant}
  interval: 5m
  chart:
    spec:
      chart: redis
      version: 1.x
      sourceRef:
        kind: HelmRepository
        name: charts
`

const values = (index: number) => `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cache
spec:
  values:
    replicaCount: ${index + 1}
    resources:
      requests:
        memory: 64Mi
`
