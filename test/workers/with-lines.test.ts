import { expect, test } from 'vitest'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import { withLines } from '../../workers/apply/report-applied.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { DEV_URL, miniFleet } from '../fleet/mini-fleet.ts'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: apps
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: app
          image: app:1
`
const PATCH = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: apps
spec:
  replicas: -1
  template:
    spec:
      containers:
        - name: app
          imagePullPolicy: Sometimes
`

test('a refused field is shown at the line that writes it: of the base, of the patch, or of the nearest part above it', () => {
  const fleet = miniFleet({
    dev: {
      'deploy/kustomization.yaml': 'resources: [../base]\npatches:\n  - path: patch.yaml\n',
      'deploy/patch.yaml': PATCH,
      'base/kustomization.yaml': 'resources: [web.yaml]\n',
      'base/web.yaml': DEPLOYMENT,
    },
  })
  const { nodes } = evaluationOf(fleet)
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'apps', name: 'web' }
  const named = [
    'spec.replicas',
    'spec.template.spec.containers[0].image',
    'spec.template.spec.containers[0].imagePullPolicy',
    'spec.selector',
    'nothing of it',
  ]
  const applied: AppliedNode = {
    ...{ key: 'staging/apps/dev-team', user: 'u', outcome: 'applied' },
    objects: [{ object, action: 'refused', message: 'no', fields: named.map(field => ({ field })) }],
  }
  const [one] = withLines([applied], nodes)
  const at = (file: string, line: number) => ({ repository: DEV_URL, file, line })
  expect(one!.objects[0]!.place).toEqual(at('base/web.yaml', 1))
  expect(one!.objects[0]!.fields).toEqual([
    { field: named[0], place: at('deploy/patch.yaml', 7) },
    { field: named[1], place: at('base/web.yaml', 12) },
    { field: named[2], place: at('deploy/patch.yaml', 12) },
    { field: named[3], place: at('base/web.yaml', 7) },
    { field: named[4], place: at('base/web.yaml', 1) },
  ])
})
