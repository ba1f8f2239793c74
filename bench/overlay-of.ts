import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes an overlay of `count` objects over files of 50, with a namespace, labels and patches, and returns its directory. */
export function overlayOf(directory: string, count: number): string {
  const files = Array.from({ length: Math.ceil(count / 50) }, (_, index) => `r${index}.yaml`)
  mkdirSync(join(directory, 'base'), { recursive: true })
  mkdirSync(join(directory, 'overlay'))
  for (const [index, file] of files.entries()) {
    const numbers = Array.from({ length: Math.min(50, count - index * 50) }, (_, offset) => index * 50 + offset)
    writeFileSync(join(directory, 'base', file), numbers.map(object).join('---\n'))
  }
  writeFileSync(
    join(directory, 'base', 'kustomization.yaml'),
    `resources:\n${files.map(file => `  - ${file}\n`).join('')}`,
  )
  writeFileSync(join(directory, 'overlay', 'kustomization.yaml'), OVERLAY)
  return join(directory, 'overlay')
}

const OVERLAY = `resources:
  - ../base
namespace: team
labels:
  - pairs:
      team: apps
    includeSelectors: true
patches:
  - target:
      kind: Deployment
    patch: |
      - op: replace
        path: /spec/replicas
        value: 3
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web-0
      spec:
        template:
          spec:
            containers:
              - name: main
                resources:
                  limits:
                    memory: 1Gi
`

/** By turns what a tenant has most of: a Deployment, its Service, settings that it reads, an account. */
function object(number: number): string {
  const app = `web-${number - (number % 4)}`
  switch (number % 4) {
    case 0:
      return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${app}
  labels:
    app: ${app}
spec:
  replicas: 1
  selector:
    matchLabels:
      app: ${app}
  template:
    metadata:
      labels:
        app: ${app}
    spec:
      serviceAccountName: ${app}
      containers:
        - name: main
          image: example.org/team/app:1.${number}
          ports:
            - name: http
              containerPort: 8080
          envFrom:
            - configMapRef:
                name: ${app}
          resources:
            requests:
              cpu: 100m
              memory: 128Mi
`
    case 1:
      return `apiVersion: v1
kind: Service
metadata:
  name: ${app}
spec:
  selector:
    app: ${app}
  ports:
    - name: http
      port: 80
      targetPort: http
`
    case 2:
      return `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${app}
data:
  LOG_LEVEL: info
  settings.yaml: |
    number: ${number}
    nested:
      - one
      - two
`
    default:
      return `apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${app}
automountServiceAccountToken: false
`
  }
}
