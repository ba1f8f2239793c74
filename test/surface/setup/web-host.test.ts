import { expect, test } from 'vitest'
import { webHost } from '../../../src/process/public-host.ts'

test.each([
  ['https://api.github.com', 'https://github.com'],
  ['https://api.acme.ghe.com', 'https://acme.ghe.com'],
  ['https://git.acme.dev/api/v3', 'https://git.acme.dev'],
  ['https://git.acme.dev:8443/api/v3', 'https://git.acme.dev:8443'],
  ['https://api.acme.dev/api/v3', 'https://api.acme.dev'],
  ['http://127.0.0.1:1234', 'http://127.0.0.1:1234'],
])('%s is met at %s', (api, web) => expect(webHost(api)).toBe(web))
