import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commentOf } from '../../../src/report/comment.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { HOSTILE } from '../samples.ts'
import { configMap, dev, role, withFiles } from './files.ts'
import { OPS_TENANT, page, type Situation, said } from './situation.ts'

const SECRET = (value: string) =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {password: ${value}, user: web}\n`
const fleet = (path: string, text: string, by: string) => {
  const content = fleetFiles('acme/fleet')[path]!
  if (!content.includes(text)) throw new Error(`${path} does not hold ${text}`)
  return content.replace(text, by)
}
const THREE = {
  'one.yaml': configMap('one', { a: '1' }),
  'two.yaml': configMap('two', { a: '1' }),
  'three.yaml': configMap('three', { a: '1' }),
}
const APP = { 'cart.yaml': dev('base/deployment.yaml', ['storefront', 'cart']) }
const SYNC = 'tenants/base/dev-team/sync.yaml'
const BASE = 'base/kustomization.yaml'

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'new-app': { of: 'dev', after: { dev: withFiles(APP) } },
  'image-on-both-clusters': {
    of: 'dev',
    before: {
      dev: {
        'staging/storefront-values.yaml': dev('staging/storefront-values.yaml', [
          '          image: acme/storefront:1.5.0-rc.1\n',
          '',
        ]),
      },
    },
    after: { dev: { 'base/deployment.yaml': dev('base/deployment.yaml', ['1.4.0', '1.4.1']) } },
  },
  'replicas-on-one-cluster': {
    of: 'dev',
    after: {
      dev: {
        'staging/storefront-values.yaml': dev('staging/storefront-values.yaml', [
          'spec:\n  template',
          'spec:\n  replicas: 3\n  template',
        ]),
      },
    },
  },
  'prune-of-three': { of: 'dev', before: { dev: withFiles(THREE) }, after: { dev: { [BASE]: dev(BASE) } } },
  'not-pruned': {
    of: 'dev',
    before: {
      fleet: { [SYNC]: fleet(SYNC, 'prune: true', 'prune: false') },
      dev: withFiles({
        ...THREE,
        'kept.yaml': configMap('kept', {}, '  annotations: {kustomize.toolkit.fluxcd.io/prune: Disabled}\n'),
      }),
    },
    after: { dev: { [BASE]: dev(BASE) } },
  },
  'rights-gained': {
    of: 'dev',
    before: {
      dev: withFiles({
        'role.yaml': role('bot', 'bot', '[{apiGroups: [apps], resources: [deployments], verbs: [get]}]'),
      }),
    },
    after: {
      dev: {
        'base/role.yaml': role(
          'bot',
          'bot',
          '[{apiGroups: [apps], resources: [deployments], verbs: [get, patch]}, {apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [create]}]',
        ),
      },
    },
  },
  'secret-changed': {
    of: 'dev',
    before: { dev: withFiles({ 'secret.yaml': SECRET('hunter2hunter2') }) },
    after: { dev: { 'base/secret.yaml': SECRET('correct-horse') } },
  },
  'generated-settings': { of: 'dev', after: { dev: { [BASE]: dev(BASE, ['LOG_LEVEL=info', 'LOG_LEVEL=debug']) } } },
  'text-of-several-lines': {
    of: 'dev',
    before: {
      dev: withFiles({
        'nginx.yaml': configMap('nginx', { 'nginx.conf': 'server {\n  listen 80;\n  root /srv;\n  token: abc;\n}\n' }),
      }),
    },
    after: {
      dev: {
        'base/nginx.yaml': configMap('nginx', {
          'nginx.conf': 'server {\n  listen 8080;\n  root /srv;\n  token: def;\n}\n',
        }),
      },
    },
  },
  'hostile-names': {
    of: 'dev',
    before: { dev: withFiles({ 'x.yaml': configMap('x', { [HOSTILE]: 'a', fence: '```\n</details>\n# approved' }) }) },
    after: {
      dev: {
        'base/x.yaml': configMap('x', { [HOSTILE]: HOSTILE, fence: '``````\n</details>\n# approved by @org/everyone' }),
      },
    },
  },
  'list-reordered': {
    of: 'dev',
    before: {
      dev: {
        'base/deployment.yaml': dev('base/deployment.yaml', [
          '          envFrom:',
          '          env: [{name: A, value: "1"}, {name: B, value: "2"}]\n          envFrom:',
        ]),
      },
    },
    after: {
      dev: {
        'base/deployment.yaml': dev('base/deployment.yaml', [
          '          envFrom:',
          '          env: [{name: B, value: "2"}, {name: A, value: "1"}]\n          envFrom:',
        ]),
      },
    },
  },
  refactoring: {
    of: 'dev',
    after: {
      dev: {
        'base/service.yaml': undefined,
        'base/svc.yaml': dev('base/service.yaml'),
        [BASE]: dev(BASE, ['service.yaml', 'svc.yaml']),
      },
    },
  },
  rename: {
    of: 'dev',
    after: {
      dev: {
        'base/widget.yaml': dev('base/widget.yaml', ['name: banner', 'name: headline']),
        'staging/storefront-values.yaml': dev('staging/storefront-values.yaml', ['name: banner', 'name: headline']),
      },
    },
  },
  'selector-changed': {
    of: 'dev',
    after: { dev: { 'base/deployment.yaml': dev('base/deployment.yaml', ['app: storefront', 'app: shop']) } },
  },
  'namespace-move': {
    of: 'fleet',
    after: {
      fleet: {
        'infrastructure/sandbox.yaml': fleetFiles('acme/fleet')['infrastructure/sandbox.yaml']!.replaceAll(
          'sandbox',
          'playground',
        ),
      },
    },
  },
  'removed-tenant': {
    of: 'fleet',
    after: {
      fleet: { 'tenants/staging/kustomization.yaml': fleetFiles('acme/fleet')['tenants/staging/kustomization.yaml']! },
    },
  },
  'new-tenant': {
    of: 'fleet',
    before: {
      fleet: { 'tenants/staging/kustomization.yaml': fleetFiles('acme/fleet')['tenants/staging/kustomization.yaml']! },
    },
    after: { fleet: { 'tenants/staging/kustomization.yaml': OPS_TENANT['tenants/staging/kustomization.yaml'] } },
  },
  suspended: { of: 'fleet', after: { fleet: { [SYNC]: fleet(SYNC, 'prune: true', 'prune: true\n  suspend: true') } } },
  'another-account': {
    of: 'fleet',
    after: { fleet: { [SYNC]: fleet(SYNC, 'serviceAccountName: dev-team', 'serviceAccountName: robot') } },
  },
  'fleet-breaks-a-tenant': {
    of: 'fleet',
    after: { fleet: { [SYNC]: fleet(SYNC, 'path: ./', 'targetNamespace: flux-system\n  path: ./') } },
  },
  'cannot-be-rendered': { of: 'dev', after: { dev: { [BASE]: dev(BASE, ['widget.yaml', 'gone.yaml']) } } },
  'violation-with-a-diff': {
    of: 'dev',
    after: { dev: withFiles({ 'role.yaml': `${SECRET('hunter2hunter2')}` }) },
  },
  'nothing-new': { of: 'dev', after: { dev: { 'README.md': '# Another word\n' } } },
}

describe('the comment on a pull request', () => {
  for (const [name, situation] of Object.entries(SITUATIONS)) {
    test(name, async () => {
      const text = page(situation)
      expect(text).not.toMatch(/hunter2|correct-horse/)
      await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'goldens', `${name}.md`))
    })
  }

  test('unfolded are at most four lines', () => {
    for (const situation of Object.values(SITUATIONS)) {
      const { outcome, context } = said(situation)
      const open = (commentOf(outcome, context) ?? '').replace(/<details>[\s\S]*?\n<\/details>/g, '')
      expect(
        open.split('\n').filter(line => line.trim() !== '' && !line.startsWith('<!--')).length,
      ).toBeLessThanOrEqual(4)
    }
  })
})
