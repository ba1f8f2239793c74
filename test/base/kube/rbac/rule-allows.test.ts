import { describe, expect, test } from 'vitest'
import { type AccessRequest, ruleAllows } from '../../../../src/kube/rbac/policy-rule.ts'
import { ruleOf } from './rule-text.ts'

/** `verb group:resource[/subresource] [=name]` or `verb /path`. */
function requestOf(text: string): AccessRequest {
  const [verb = '', target = '', name = ''] = text.split(' ')
  if (target.startsWith('/')) return { verb, nonResourceURL: target }
  const [apiGroup = '', path = ''] = target.split(':')
  const [resource = '', subresource] = path.split('/')
  return { verb, apiGroup, resource, subresource, name: name.slice(1) }
}

/** The cases of TestRuleMatches and TestAuthorizer of k8s.io/kubernetes plugin/pkg/auth/authorizer/rbac, and their neighbours. */
const CASES: readonly [rule: string, allowed: readonly string[], refused: readonly string[]][] = [
  ['* one:things', ['get one:things', 'wipe one:things'], ['get two:things', 'get one:others', 'get :things']],
  ['get *:things', ['get one:things', 'get :things'], ['get one:others', 'wipe one:things', 'GET one:things']],
  ['get one:*', ['get one:things', 'get one:things/log', 'get one:others'], ['get two:things', 'wipe one:things']],
  [
    'get,wipe one,two:things,others',
    ['get one:things', 'wipe two:others', 'get two:things'],
    ['get three:things', 'get one:parts', 'put one:things'],
  ],
  ['* *:things/log', ['get one:things/log'], ['get one:things', 'get one:things/exec', 'get one:others/log']],
  ['* *:*/log', ['get one:things/log', 'get :others/log'], ['get one:things', 'get one:things/logs', 'get one:log']],
  ['* *:things/*', ['get one:things/*'], ['get one:things', 'get one:things/log']],
  ['get :pods', ['get :pods'], ['get :pods/log', 'get apps:pods', 'get :pod', 'get :Pods']],
  ['get :pods =a,b', ['get :pods =a', 'get :pods =b'], ['get :pods', 'get :pods =c', 'get :pods =A', 'get :pods =*']],
  ['get :pods =*', ['get :pods =*'], ['get :pods =a', 'get :pods']],
  ['get path:*', ['get /foo', 'get /foo/bar', 'get /'], ['list /foo', 'get :pods']],
  ['get /foo/*', ['get /foo/bar', 'get /foo/bar/one', 'get /foo/'], ['get /foo', 'get /notfoo', 'get /notfoo/bar']],
  ['get /foo*', ['get /foo', 'get /food'], ['get /fo']],
  ['get /foo**', ['get /foo', 'get /food'], ['get /fo']],
  ['get /a/*/b', ['get /a/*/b'], ['get /a/x/b']],
  ['* /foo,/foo/bar/one', ['get /foo', 'put /foo/bar/one'], ['get /foo/bar', 'get /foo/baz/one']],
]

describe.each(CASES)('the rule %s', (rule, allowed, refused) => {
  test.each(allowed)('allows %s', text => expect(ruleAllows(ruleOf(rule), requestOf(text))).toBe(true))
  test.each(refused)('does not allow %s', text => expect(ruleAllows(ruleOf(rule), requestOf(text))).toBe(false))
})
