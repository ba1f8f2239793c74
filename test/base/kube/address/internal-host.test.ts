import { expect, test } from 'vitest'
import { internalHost } from '../../../../src/kube/internal-host.ts'

test.each([
  ['127.0.0.1', 'a loopback address'],
  ['127.1', 'a loopback address'],
  ['2130706433', 'a loopback address'],
  ['0177.0.0.1', 'a loopback address'],
  ['0x7f.0.0.1', 'a loopback address'],
  ['0x7f000001', 'a loopback address'],
  ['0', 'this machine'],
  ['10.1.2.3', 'a private address'],
  ['172.31.255.255', 'a private address'],
  ['192.168.0.1', 'a private address'],
  ['100.100.100.200', "the cloud's metadata service"],
  ['::1', 'a loopback address'],
  ['[::1]', 'a loopback address'],
  ['::', 'a loopback address'],
  ['::ffff:127.0.0.1', 'a loopback address'],
  ['::ffff:7f00:1', 'a loopback address'],
  ['::10.0.0.1', 'a private address'],
  ['64:ff9b::a00:1', 'a private address'],
  ['2002:a00:1::', 'a private address'],
  ['fd00:ec2::254', "the cloud's metadata service"],
  ['fe80::1%eth0', 'a link-local address'],
  ['ff02::1', 'a multicast address'],
  ['1:2', 'an address that is none'],
  ['localhost', 'a loopback address'],
  ['x.localhost', 'a loopback address'],
  ['LOCALHOST.', 'a loopback address'],
  ['app.localtest.me', 'a loopback address'],
  ['10.0.0.1.nip.io', 'a private address'],
  ['x-192-168-0-1.sslip.io', 'a private address'],
  ['metadata.google.internal', "the cloud's metadata service"],
  ['168.63.129.16', "the cloud's metadata service"],
  ['kubernetes.default', 'a name inside of the cluster'],
  ['redis', 'a name inside of the cluster'],
  ['10-0-0-1.apps.pod.cluster.local', 'a name inside of the cluster'],
])('%s is %s', (host, what) => {
  expect(internalHost(host)?.what).toBe(what)
})

test.each([
  ['api.team-b.svc', 'api', 'team-b'],
  ['svc.team-b.svc', 'svc', 'team-b'],
  ['api.team-b.svc.cluster.local', 'api', 'team-b'],
  ['API.Team-B.svc.cluster.local.', 'api', 'team-b'],
  ['pod-0.api.team-b.svc.cluster.local', 'api', 'team-b'],
  ['api.team-b.svc.other.domain', 'api', 'team-b'],
])('%s is service %s of namespace %s', (host, name, namespace) => {
  expect(internalHost(host)?.service).toEqual({ name, namespace })
})

test.each([
  'github.com',
  '8.8.8.8',
  '172.32.0.1',
  '169.253.0.1',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '8.8.8.8.nip.io',
  'git.acme.internal',
  'git.svc.acme.com',
  '1.2.3.4.5',
  'notlocalhost.com',
])('%s is outside', host => {
  expect(internalHost(host)).toBeUndefined()
})
