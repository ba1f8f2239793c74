import { expect, test } from 'vitest'
import { signAws } from '../../../src/cluster/open-kms.ts'

// facts of aws-sig-v4-test-suite: all of it is signed at one time with one key
const KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const PLACE = { region: 'us-east-1', service: 'service', now: Date.UTC(2015, 7, 30, 12, 36) }

test.each<[string, string, Record<string, string>, string, string, string]>([
  ['get-vanilla', 'GET', {}, '', 'host;x-amz-date', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'post-vanilla',
    'POST',
    {},
    '',
    'host;x-amz-date',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'post-header-key-sort',
    'POST',
    { 'my-header1': 'value1' },
    '',
    'host;my-header1;x-amz-date',
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  ],
  [
    'post-x-www-form-urlencoded',
    'POST',
    { 'content-type': 'application/x-www-form-urlencoded' },
    'Param1=value1',
    'content-type;host;x-amz-date',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
  [
    'get-header-value-trim',
    'GET',
    { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    '',
    'host;my-header1;my-header2;x-amz-date',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
])('%s of the test suite is signed as published', (_, method, headers, body, names, signature) => {
  const signed = signAws({ method, host: 'example.amazonaws.com', headers, body }, KEY, PLACE)
  expect(signed['x-amz-date']).toBe('20150830T123600Z')
  expect(signed.authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  )
})

test('a session token is signed, too', () => {
  const token =
    'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='
  const request = { method: 'POST', host: 'example.amazonaws.com', headers: {}, body: '' }
  const signed = signAws(request, { ...KEY, sessionToken: token }, PLACE)
  expect(signed['x-amz-security-token']).toBe(token)
  expect(signed.authorization).toContain(
    'SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  )
})
