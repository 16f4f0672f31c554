import { expect, test } from 'bun:test';
import {
  effectivePermissions,
  isGranted,
  PERMISSIONS,
  SCOPE_NAMES,
} from '../../src/model/clients/permissions.ts';

test('a permission is granted exactly when it is among the effective ones', () => {
  for (const scope of [null, ...SCOPE_NAMES]) {
    for (const single of [null, ...PERMISSIONS]) {
      const grant = { scopes: scope ? [scope] : [], permissions: single ? [single] : [] };
      const granted = PERMISSIONS.filter((permission) => isGranted(permission, grant));
      expect(granted).toEqual(effectivePermissions(grant.scopes, grant.permissions));
    }
  }
});
