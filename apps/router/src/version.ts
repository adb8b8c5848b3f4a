/** Version of the appliance; the test beside this file holds it to package.json. */
export const version = '0.1.0';
