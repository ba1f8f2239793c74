import { expect, test } from 'vitest'
import { excessRights } from '../../../src/fleet/facts/cluster-rights.ts'
import type { PolicyRule } from '../../../src/kube/rbac/policy-rule.ts'
import { dangersOf } from '../../../src/rules/rbac/escalation.ts'

const rule = (verbs: string, apiGroups: string, resources: string, names = ''): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: apiGroups.split(',').map(group => (group === 'core' ? '' : group)),
  resources: resources.split(' '),
  resourceNames: names ? names.split(' ') : [],
  nonResourceURLs: [],
})
const RBAC = 'rbac.authorization.k8s.io'

test.each<[string, PolicyRule, string[]]>([
  ['bind', rule('bind', RBAC, 'roles'), ['! bind']],
  ['bind of something else', rule('bind', 'apps', 'roles'), []],
  ['escalate among others', rule('get escalate', `core,${RBAC}`, 'pods clusterroles'), ['! escalate']],
  ['impersonate', rule('impersonate', 'core', 'users groups'), ['! impersonate groups users']],
  [
    'impersonate by extra fields',
    rule('impersonate', 'authentication.k8s.io', 'userextras/scopes'),
    ['! impersonate userextras/scopes'],
  ],
  ['impersonate of what cannot be', rule('impersonate', 'core', 'pods'), []],
  ['namespaces/finalize', rule('update', 'core', 'namespaces/finalize'), ['! write namespaces/finalize']],
  ['to read namespaces', rule('get list', 'core', 'namespaces namespaces/status'), []],
  ['nodes/proxy', rule('get', 'core', 'nodes nodes/proxy'), ['! nodes/proxy']],
  ['tokens', rule('create', 'core', 'serviceaccounts/token'), ['create serviceaccounts/token']],
  ['pods/exec, by get', rule('get', 'core', 'pods/exec'), ['pods/exec']],
  ['pods/log', rule('get', 'core', 'pods pods/log'), []],
  ['secrets', rule('list', 'core', 'secrets'), ['read secrets']],
  ['to write secrets', rule('create patch', 'core', 'secrets'), []],
  ['one secret', rule('get', 'core', 'secrets', 'a'), []],
  ['a star', rule('*', 'apps', 'deployments'), ['* in verbs']],
  ['every star', rule('*', '*', '*'), ['* in verbs, apiGroups, resources']],
  ['stars that mean nothing', rule('get', 'core', 'pods/* */*'), ['* in resources']],
  ['leases', rule('get list watch create update patch delete', 'coordination.k8s.io', 'leases'), []],
])('%s', (_what, one, expected) => {
  expect(dangersOf(one).map(danger => `${danger.escapes ? '! ' : ''}${danger.what}`)).toEqual(expected)
})

const holder = (ofCapsule: boolean) => ({ owns: (namespace: string) => namespace === 'apps', ofCapsule })
const self = 'system:serviceaccount:apps:web'

test.each<[string, PolicyRule, boolean, boolean]>([
  ['what everybody may do', rule('create', 'authorization.k8s.io', 'selfsubjectaccessreviews'), false, false],
  ['to be itself', rule('impersonate', 'core', 'users', self), false, false],
  [
    'to be another account of the same tenant',
    rule('impersonate', 'core', 'users', 'system:serviceaccount:apps:b'),
    false,
    false,
  ],
  ['to be itself or another', rule('impersonate', 'core', 'users', `${self} system:serviceaccount:ops:x`), false, true],
  ['to be a person', rule('impersonate', 'core', 'users', 'alice'), false, true],
  ['to be anybody', rule('impersonate', 'core', 'users'), false, true],
  ['to be an account of its name in any namespace', rule('impersonate', 'core', 'serviceaccounts', 'web'), false, true],
  ['to be in a group', rule('impersonate', 'core', 'groups', 'system:masters'), false, true],
  ['namespaces under Capsule', rule('create patch', 'core', 'namespaces'), true, false],
  ['namespaces without', rule('create patch', 'core', 'namespaces'), false, true],
  ['to delete namespaces', rule('delete', 'core', 'namespaces'), true, true],
  ['the status of namespaces', rule('patch', 'core', 'namespaces namespaces/status'), true, true],
  ['namespaces of every group', rule('patch', '*', 'namespaces'), true, true],
  ['to read pods', rule('get', 'core', 'pods'), true, true],
])('cluster-wide: %s', (_what, one, ofCapsule, isTooMuch) => {
  expect(excessRights([one], holder(ofCapsule))).toEqual(isTooMuch ? [one] : [])
})
