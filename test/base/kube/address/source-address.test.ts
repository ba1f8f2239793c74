import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAddress } from '../../../../src/kube/source-address.ts'

const plain = (written: string, form: Parameters<typeof readAddress>[1] = 'url') => {
  const read = readAddress(written, form)
  return typeof read === 'string' ? `no: ${read}` : read.text
}

test.each([
  ['https://github.com/Acme/App.git', 'https://github.com/acme/app'],
  ['https://GitHub.com:443/acme/app/', 'https://github.com/acme/app'],
  ['ssh://git@github.com:22/acme/app', 'https://github.com/acme/app'],
  ['ssh://git@ssh.github.com:443/acme/app', 'https://github.com/acme/app'],
  ['ssh://git@github.com:acme/app', 'https://github.com/acme/app'],
  ['git@github.com:acme/app.git', 'https://github.com/acme/app'],
  ['https://gitlab.com/Acme/App', 'https://gitlab.com/Acme/App'],
  ['https://gitlab.com/a/b/c/', 'https://gitlab.com/a/b/c'],
  ['https://dev.azure.com/o/My%20P/_git/r', 'https://dev.azure.com/o/My%20P/_git/r'],
  ['https://charts.example.com', 'https://charts.example.com/'],
  ['http://charts.example.com:8080/x', 'http://charts.example.com:8080/x'],
  ['oci://ghcr.io/acme/app.git', 'oci://ghcr.io/acme/app.git'],
  ['https://[2001:DB8::1]:8443/x', 'https://[2001:db8::1]:8443/x'],
])('%s is %s', (written, text) => {
  expect(plain(written)).toBe(text)
})

test.each([
  ['nginx', 'oci://docker.io/library/nginx'],
  ['acme/app', 'oci://docker.io/acme/app'],
  ['index.docker.io/acme/app', 'oci://docker.io/acme/app'],
  ['localhost/app', 'oci://localhost/app'],
  ['registry:5000/app', 'oci://registry:5000/app'],
])('the image %s is %s', (written, text) => {
  expect(plain(written, 'image')).toBe(text)
})

test.each([
  ['s3.amazonaws.com', 'https://s3.amazonaws.com/'],
  ['minio.minio.svc:9000', 'https://minio.minio.svc:9000/'],
  ['localhost', 'https://localhost/'],
])('the endpoint %s is %s', (written, text) => {
  expect(plain(written, 'endpoint')).toBe(text)
})

test.each([
  '',
  'github.com/acme/app',
  'https:github.com/acme/app',
  'https:///acme',
  'https://me@github.com/acme/app',
  'https://me:pw@github.com/acme/app',
  'ssh://me:pw@github.com/acme/app',
  'https://github.com%2Facme@evil.example/app',
  'https://github.com/acme/../evil',
  'https://github.com/acme/.',
  'https://github.com/acme/%2E%2e/evil',
  'https://github.com/acme%2fapp',
  'https://github.com/acme%5capp',
  'https://github.com/a%zz',
  'https://github.com\\@evil.example/app',
  'https://github.com//acme/app',
  'https://github.com/acme//',
  'https://github.com/acme?x',
  'https://github.com/acme#x',
  'https://github.com./acme/app',
  'https://github..com/acme/app',
  'https://github.com:65536/acme/app',
  'https://github.com:abc/acme/app',
  'https://githu\u0431.com/acme/app',
  'https://github.com/acme/app\n',
  'https://github.com/acme/ app',
  'file:///etc/passwd',
  'ext::sh -c id',
  `https://github.com/${'a'.repeat(3000)}`,
])('%j is no address', written => {
  expect(plain(written)).toMatch(/^no: /)
})

test('an address in its one spelling stays as it is, and nothing throws', () => {
  const text = fc.string({ unit: fc.constantFrom(...'abA.:/@%2eE\\?#[]-_0 '), maxLength: 30 })
  const form = fc.constantFrom('url' as const, 'image' as const, 'endpoint' as const)
  fc.assert(
    fc.property(text, fc.constantFrom('', 'https://', 'ssh://git@', 'oci://'), form, (rest, scheme, how) => {
      const read = readAddress(`${scheme}${rest}`, how)
      if (typeof read === 'string') return
      expect(readAddress(read.text, 'url')).toEqual(read)
      expect(read.parts.some(part => part === '..' || part === '')).toBe(false)
    }),
    { numRuns: 3000 },
  )
})
