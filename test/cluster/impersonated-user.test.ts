import { describe, expect, test } from 'vitest'
import { impersonatedUser } from '../../src/cluster/api-client.ts'

describe('the user for Impersonate-User', () => {
  test.each([
    'system:serviceaccount:apps:dev-team',
    'system:serviceaccount:a:b.c-d.e',
    `system:serviceaccount:${'n'.repeat(63)}:${'a'.repeat(63)}`,
    'gotk:apps:reconciler',
  ])('%s', user => expect(impersonatedUser(user)).toBe(user))

  test.each([
    '',
    ' ',
    'admin',
    'system:admin',
    'system:masters',
    'system:kube-controller-manager',
    'system:serviceaccount:apps:',
    'system:serviceaccount::dev-team',
    'system:serviceaccount:apps:dev-team:more',
    'system:serviceaccount:Apps:dev-team',
    'system:serviceaccount:apps:dev_team',
    'system:serviceaccount:apps:dev-team\n',
    'system:serviceaccount:apps:dev-team\r\nImpersonate-Group: system:masters',
    'system:serviceaccount:apps:dev-team, system:admin',
    'system:serviceaccount:apps:-x',
    'system:serviceaccount:apps:x..y',
    'system:serviceaccount:apps:déjà',
    `system:serviceaccount:${'n'.repeat(64)}:x`,
    `system:serviceaccount:apps:${'x.'.repeat(5000)}x`,
    'gotk:apps:reconciler2',
    'gotk::reconciler',
  ])('refuses %j', user => {
    expect(() => impersonatedUser(user)).toThrow(
      expect.objectContaining({ code: 'cluster-invalid', rule: 'worker-impersonate-nonempty' }),
    )
  })
})
